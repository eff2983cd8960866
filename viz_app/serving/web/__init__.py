"""Web server around Streamlit: middleware, health, logs, warm-up."""

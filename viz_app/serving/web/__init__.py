"""Between the network and Streamlit: middleware, limits, health, logs, warm-up."""

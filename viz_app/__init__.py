"""The Streamlit app: pages, figures, browser components and the services behind them."""

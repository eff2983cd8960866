"""The Streamlit app: pages, figures, lessons, browser components, and what serves the models behind them."""

"""Streamlit app: pages, figures, lessons, browser components, and the model server behind them."""

"""Parts of the page Figures."""

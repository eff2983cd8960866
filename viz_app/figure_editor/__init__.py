"""State, drawings and collection of the page Figures."""

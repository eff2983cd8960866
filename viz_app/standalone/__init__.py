"""Pages without Python: the explorer of prepared sentences, a translator, or a lesson, as one HTML file."""

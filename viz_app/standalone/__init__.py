"""Pages without Python: the explorer of prepared sentences, or a lesson, as one HTML file that needs no network."""

"""State of a session and of an address."""

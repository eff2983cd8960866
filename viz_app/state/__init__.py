"""State of a session, of an address and of a session file."""

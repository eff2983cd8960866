"""What a session and an address hold."""

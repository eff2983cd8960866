"""Many visitors of one server."""

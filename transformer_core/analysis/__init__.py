"""What heads do: measures over attention maps."""

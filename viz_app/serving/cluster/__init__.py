"""Model server that several front ends share, on Ray Serve."""

"""Configurations and costs from the paper: presets, Table 3, operations, complexity."""

"""Speed and memory, measured: one command each, a table and then one line of JSON."""

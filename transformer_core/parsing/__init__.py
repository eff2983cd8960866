"""Constituency parsing (Section 6.3): trees, their symbols, how brackets are kept in order, how parses are scored."""

"""Constituency parsing (Section 6.3): trees, linearisation, repair, the automaton of the search, and scores."""

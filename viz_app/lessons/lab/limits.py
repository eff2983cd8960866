"""How long a sentence may be for the benches of the Lab."""

MOST_PIECES = 80  # with </s>: every bench runs the model many times

"""Head atlas: the role of each head, measured over corpora and tested by removal.

`measure.py` runs the parts, `record.py` has the types of their results, `naming.py` names the roles. docs/atlas.md
explains every number.
"""

"""The head atlas: what each head of a model is for, measured over corpora and tested by removal.

`measure.py` runs the parts, `record.py` is what they write, `naming.py` says what a head is for. docs/atlas.md explains
every number.
"""

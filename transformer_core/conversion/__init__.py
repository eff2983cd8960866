"""Translators of other programs become checkpoints of this one: `convert`.

foreign_folder.py  files of a stranger, read without trust and one tensor at a time
recognise.py       what a folder holds
marian.py ...      one family each: options, vocabulary, names of weights
plan.py            what a family makes of a folder
writing.py         the checkpoint
"""

from transformer_core.conversion.convert import Converted as Converted
from transformer_core.conversion.convert import convert as convert
from transformer_core.conversion.foreign_folder import ConversionError as ConversionError

"""Conversion of other programs' translators to checkpoints: `convert`.

foreign_folder.py  reader of untrusted files, one tensor at a time
foreign_config.py  validated options
recognise.py       family of a folder
marian.py ...      one family each: options, vocabulary, names of weights
plan.py            plan of a conversion
writing.py         writer of the checkpoint
"""

from transformer_core.conversion.convert import Converted as Converted
from transformer_core.conversion.convert import convert as convert
from transformer_core.conversion.foreign_folder import ConversionError as ConversionError

"""Checkpoints become models of other programs: `export-model`.

refusals.py       what another program has no counterpart of
exporting.py      a checkpoint in, a folder out, and the record of where it came from
vocabulary.py     the lists of tokens and SentencePiece models that other programs read
search.py         their length penalty
marian_folder.py  transformers' MarianMTModel and MarianTokenizer: files and options
marian_weights.py its weights
ctranslate2_folder.py  CTranslate2
onnx_folder.py    ONNX: files, shapes, an example
onnx_graphs.py    encoder and decoder step, with every attention weight
"""

from transformer_core.model_export.exporting import Exported as Exported
from transformer_core.model_export.exporting import export_model as export_model
from transformer_core.model_export.refusals import ExportError as ExportError

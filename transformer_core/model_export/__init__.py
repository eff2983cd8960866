"""Export of checkpoints to other programs: `export-model`.

refusals.py       options without a counterpart
exporting.py      export of a folder with a record of its origin
vocabulary.py     token lists and SentencePiece models for other programs
search.py         their length penalty
marian_folder.py  transformers' MarianMTModel and MarianTokenizer: files and options
marian_weights.py its weights
onnx_folder.py    ONNX: files, shapes, an example
onnx_graphs.py    encoder and decoder step, with every attention weight
"""

from transformer_core.model_export.exporting import Exported as Exported
from transformer_core.model_export.exporting import export_model as export_model
from transformer_core.model_export.refusals import ExportError as ExportError

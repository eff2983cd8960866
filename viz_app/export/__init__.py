"""Figures as files that know how they were made: each holds its origin and the command that makes it again.

    figure = VIEWS["head"].figure(maps=maps, layer=3, head=5, provenance=origin(translator, translation))
    data = file_bytes(figure, "pdf", style)      # holds the command
    command_of(figure, style, format="pdf")      # python -m viz_app export --checkpoint=... --text=... ...
    bundle([figure], ("pdf", "csv"), style)      # a zip of everything, with an index

Nothing here imports Streamlit.
"""

from viz_app.export.bundle import BUNDLE_FORMATS, Item, bundle
from viz_app.export.command import command_of
from viz_app.export.figure_request import FigureRequest, Sentence
from viz_app.export.provenance import checkpoint_name, origin
from viz_app.export.recorded import file_bytes, files_of

__all__ = [
    "BUNDLE_FORMATS",
    "FigureRequest",
    "Item",
    "Sentence",
    "bundle",
    "checkpoint_name",
    "command_of",
    "file_bytes",
    "files_of",
    "origin",
]

"""Figures as files that know how they were made: each holds its origin and the command that makes it again.

    figure = VIEWS["head"].figure(maps=maps, layer=3, head=5, provenance=make_provenance(translator, translation))
    data = file_bytes(figure, "pdf", style)      # holds the command
    command_for(figure, style, format="pdf")     # python -m viz_app export --checkpoint=... --text=... ...
    bundle([figure], ("pdf", "csv"), style)      # a zip of everything, with an index

Nothing here imports Streamlit.
"""

from viz_app.export.bundle import BUNDLE_FORMATS, BundleItem, bundle
from viz_app.export.command import command_for
from viz_app.export.figure_request import Sentence
from viz_app.export.provenance import checkpoint_name, make_provenance
from viz_app.export.recorded import export_files, file_bytes

__all__ = [
    "BUNDLE_FORMATS",
    "BundleItem",
    "Sentence",
    "bundle",
    "checkpoint_name",
    "command_for",
    "export_files",
    "file_bytes",
    "make_provenance",
]

"""Figures as files that know how they were made: each holds its origin and the command that makes it again.

    figure = VIEWS["head"].figure(maps=maps, head="cross.4.6", provenance=make_provenance(translator, translation))
    data = file_bytes(figure, "pdf", style)      # holds the command
    command_for(figure, style, format="pdf")     # python -m viz_app export --checkpoint=... --text=... ...
    bundle([BundleItem(figure=figure)])          # a zip of everything, with an index

Nothing here imports Streamlit.
"""

from viz_app.export.bundle import BUNDLE_FORMATS as BUNDLE_FORMATS
from viz_app.export.bundle import BundleItem as BundleItem
from viz_app.export.bundle import bundle as bundle
from viz_app.export.command import command_for as command_for
from viz_app.export.provenance import checkpoint_name as checkpoint_name
from viz_app.export.provenance import make_provenance as make_provenance
from viz_app.export.recorded import export_files as export_files
from viz_app.export.recorded import file_bytes as file_bytes

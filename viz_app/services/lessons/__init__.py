"""The numbers of the lessons, from the model and the formulas of `transformer_core`: one file a lesson.

Each file has

    def data(context: Context) -> Data                      what the stage draws
    def figure(scene: str, context: Context) -> Figure | None    the same picture for print; None for what cannot be one

and, where a scene shows one head of the model,

    def selection(scene: str, context: Context) -> Selection | None     that head, for the page Translate

and asks the context for the sentence, its translation and the settings of the scene. Where something goes on at the
server while a scene is open, the file also has

    FOLLOWED                                                 the names of these scenes
    def news(context: Context) -> Data                       asked about once a second
    def pressed(context: Context, button: str) -> None       a button of the scene

and, where a picture for print needs what such a button starts,

    def prepare(scene: str, context: Context) -> None        does it and waits: for the command line

A file may also name

    EVIDENCE                                                 scenes with a question whose picture tells no answer
"""

from typing import TYPE_CHECKING, Any

from viz_app.services.lessons.catalogue import CHAPTERS, LESSONS, ROUTE, Entry, head_of, module_of, next_stop

if TYPE_CHECKING:
    from viz_app.services.lessons.context import Context, Data

__all__ = ["CHAPTERS", "LESSONS", "ROUTE", "Context", "Data", "Entry", "head_of", "module_of", "next_stop"]


def __getattr__(name: str) -> Any:
    """`Context` and `Data`, which need Streamlit, when somebody asks for them; the catalogue needs nothing."""
    if name not in ("Context", "Data"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from viz_app.services.lessons import context

    return getattr(context, name)

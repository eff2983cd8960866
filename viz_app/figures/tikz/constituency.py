r"""Phrase-structure trees as TikZ: a node for each label, a line for each edge."""

from __future__ import annotations

import numpy as np

from viz_app.figures import fonts
from viz_app.figures.colours.palette import MUTED
from viz_app.figures.colours.scales import format_number
from viz_app.figures.layout import POINTS_PER_MM
from viz_app.figures.model.constituency import ConstituencyFigure, label_of, place_tree
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.renderer import drawing_settings
from viz_app.figures.tikz.parts import color, heading, tex, xcolor

_WIDTH = 160.0  # mm, when the style has none
_MIN = 6.0  # points, of labels that the width would make smaller, when the style has none
_STEPS = 16  # colours in the key


def constituency(figure: ConstituencyFigure, style: Style) -> list[str]:
    """Return the picture, line by line; its unit is the font size."""
    with drawing_settings():
        places = place_tree(figure, fonts.width)
    size = min(style.font, (style.width or _WIDTH) * POINTS_PER_MM / places.width)
    if style.width is None:
        size = max(size, min(style.font, _MIN))
    high = 1.0
    if style.height is not None:
        high = max(0.6, min(1.5, style.height * POINTS_PER_MM / size / (places.height + 2)))
    lines = [
        color("edge", MUTED[figure.theme]),
        f"\\begin{{tikzpicture}}[x={size:.3f}bp, y={-size * high:.3f}bp, inner sep={0.18 * size:.2f}bp, "
        f"every node/.style={{font=\\fontsize{{{size:.2f}bp}}{{{1.2 * size:.2f}bp}}\\selectfont}}]",
    ]
    for edge in places.edges:
        lines.append(f"\\draw[headlightedge, thin] {' -- '.join(f'({x:.3f},{y:.3f})' for x, y in edge)};")
    for i, node in enumerate(figure.nodes):
        lines.append(_node(figure, node.label, places.nodes[i], figure.node_tint(i, style)))
    for i, word in enumerate(figure.words):
        lines.append(_node(figure, word, places.words[i], figure.word_tint(i, style)))
    if style.legend and figure.is_tinted:
        lines += _key(figure, style, ", ".join(figure.tint_titles()), places.height + 2.0 / high)
    return [*lines, *heading(figure, style), "\\end{tikzpicture}"]


def _node(figure: ConstituencyFigure, text: str, at: tuple[float, float], tint: str | None) -> str:
    options = "" if tint is None else f"[fill={xcolor(tint)}, text={xcolor(figure.ink_on(tint))}]"
    return f"\\node{options} at ({at[0]:.3f},{at[1]:.3f}) {{\\strut {tex(label_of(text))}}};"


def _key(figure: ConstituencyFigure, style: Style, title: str, y: float) -> list[str]:
    """Return the scale between its ends, then what it means."""
    scale = figure.color_map(style)
    colors = scale.rgb(np.linspace(scale.low, scale.high, _STEPS)).tolist()
    lines = [f"\\node[anchor=west] at (0,{y:.3f}) {{\\strut {tex(format_number(scale.low))}}};"]
    for i, rgb in enumerate(colors):
        fill = xcolor("#" + "".join(f"{part:02x}" for part in rgb))
        lines.append(
            f"\\fill[fill={fill}] ({1.6 + 0.4 * i:.2f},{y - 0.35:.3f}) rectangle ({2.0 + 0.4 * i:.2f},{y + 0.35:.3f});"
        )
    end = 1.6 + 0.4 * _STEPS
    words = f"{tex(format_number(scale.high))}\\quad {tex(title)}"
    return [*lines, f"\\node[anchor=west] at ({end:.2f},{y:.3f}) {{\\strut {words}}};"]

"""Numbers of Tables 2, 3 and 4 (Sections 6.1 to 6.3)."""

from __future__ import annotations

from dataclasses import dataclass

from transformer_core.paper.presets import preset


@dataclass(frozen=True)
class Score:
    """Line of Table 2; None for an empty cell.

    Args:
        name: The system.
        ende: BLEU on newstest2014, English-German.
        enfr: BLEU on newstest2014, English-French.
        ende_flops: Training cost of the English-German model, in floating-point operations.
        enfr_flops: The same of the English-French model.
        group: "single", "ensemble" or "transformer".
    """

    name: str
    ende: float | None
    enfr: float | None
    ende_flops: float | None
    enfr_flops: float | None
    group: str = "single"


TABLE_2: tuple[Score, ...] = (
    Score("ByteNet", 23.75, None, None, None),
    Score("Deep-Att + PosUnk", None, 39.2, None, 1.0e20),
    Score("GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20),
    Score("ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20),
    Score("MoE", 26.03, 40.56, 2.0e19, 1.2e20),
    Score("Deep-Att + PosUnk", None, 40.4, None, 8.0e20, "ensemble"),
    Score("GNMT + RL", 26.30, 41.16, 1.8e20, 1.1e21, "ensemble"),
    Score("ConvS2S", 26.36, 41.29, 7.7e19, 1.2e21, "ensemble"),
    Score("Transformer (base)", 27.3, 38.1, 3.3e18, 3.3e18, "transformer"),
    Score("Transformer (big)", 28.4, 41.8, 2.3e19, 2.3e19, "transformer"),
)


@dataclass(frozen=True)
class Variation:
    """Line of Table 3: English-German, newstest2013, no averaging of checkpoints.

    Args:
        row: "base", a letter A to E, or "big".
        change: What differs from base.
        preset: Its name in `transformer_core.paper.presets`.
        perplexity: Per token.
        bleu: Of the development set.
        millions: Parameters as printed; None where the table prints none.
    """

    row: str
    change: str
    preset: str
    perplexity: float
    bleu: float
    millions: float | None = None


TABLE_3: tuple[Variation, ...] = (
    Variation("base", "", "base", 4.92, 25.8, 65),
    Variation("A", "h = 1, d_k = 512", "table3-a-h1", 5.29, 24.9),
    Variation("A", "h = 4, d_k = 128", "table3-a-h4", 5.00, 25.5),
    Variation("A", "h = 16, d_k = 32", "table3-a-h16", 4.91, 25.8),
    Variation("A", "h = 32, d_k = 16", "table3-a-h32", 5.01, 25.4),
    Variation("B", "d_k = 16", "table3-b-dk16", 5.16, 25.1, 58),
    Variation("B", "d_k = 32", "table3-b-dk32", 5.01, 25.4, 60),
    Variation("C", "N = 2", "table3-c-n2", 6.11, 23.7, 36),
    Variation("C", "N = 4", "table3-c-n4", 5.19, 25.3, 50),
    Variation("C", "N = 8", "table3-c-n8", 4.88, 25.5, 80),
    Variation("C", "d_model = 256", "table3-c-d256", 5.75, 24.5, 28),
    Variation("C", "d_model = 1024", "table3-c-d1024", 4.66, 26.0, 168),
    Variation("C", "d_ff = 1024", "table3-c-ff1024", 5.12, 25.4, 53),
    Variation("C", "d_ff = 4096", "table3-c-ff4096", 4.75, 26.2, 90),
    Variation("D", "P_drop = 0.0", "table3-d-dropout0", 5.77, 24.6),
    Variation("D", "P_drop = 0.2", "table3-d-dropout0.2", 4.95, 25.5),
    Variation("D", "ε_ls = 0.0", "table3-d-smoothing0", 4.67, 25.3),
    Variation("D", "ε_ls = 0.2", "table3-d-smoothing0.2", 5.47, 25.7),
    Variation("E", "learned positions", "table3-e-learned", 4.92, 25.7),
    Variation("big", "", "big", 4.33, 26.4, 213),
)


def lines_by_heads() -> list[Variation]:
    """Return base and row A, by number of heads."""
    lines = (line for line in TABLE_3 if line.row in ("base", "A"))
    return sorted(lines, key=lambda line: preset(line.preset).model.num_heads)


@dataclass(frozen=True)
class Parser:
    """Line of Table 4: F1 on section 23 of the Wall Street Journal.

    Args:
        name: First author and year, or the Transformer.
        setting: What it was trained on: "wsj" only, "semi" (semi-supervised), "multi" (multi-task) or "generative".
        f1: In percent.
    """

    name: str
    setting: str
    f1: float


TABLE_4: tuple[Parser, ...] = (
    Parser("Vinyals et al. (2014)", "wsj", 88.3),
    Parser("Petrov et al. (2006)", "wsj", 90.4),
    Parser("Zhu et al. (2013)", "wsj", 90.4),
    Parser("Dyer et al. (2016)", "wsj", 91.7),
    Parser("Transformer (4 layers)", "wsj", 91.3),
    Parser("Zhu et al. (2013)", "semi", 91.3),
    Parser("Huang & Harper (2009)", "semi", 91.3),
    Parser("McClosky et al. (2006)", "semi", 92.1),
    Parser("Vinyals et al. (2014)", "semi", 92.1),
    Parser("Transformer (4 layers)", "semi", 92.7),
    Parser("Luong et al. (2015)", "multi", 93.0),
    Parser("Dyer et al. (2016)", "generative", 93.3),
)

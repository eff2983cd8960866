r"""Measure the role of every head, and write DIR/atlas.json.

Every number has its 95 % interval over sentences, its count and its baselines. A run that was
stopped goes on where it was when it is started again with the same arguments. Parts that
DIR/atlas.json holds already stay. The numbers do not depend on --workers. docs/atlas.md has
their formulas, and says where the files of the shipped atlases come from.

--trees takes two treebanks in CoNLL-U, of the language that the model reads: the first to choose
offsets and relations on, the second to test them on.

Parts:

Example:
  python -m transformer_core atlas --checkpoint checkpoints/en-de --sentences test.en-de.tsv \
      --trees dev.conllu test.conllu --alignments gold.en-de.tsv --parts all --workers 2 --out atlas
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.cli.arguments import (
    Options,
    Parser,
    UsageError,
    check_place,
    load_translator,
    write_summary,
    write_table,
)
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.storage.files import exclusive

if TYPE_CHECKING:
    from transformer_core.atlas.record import Atlas

_PARTS = {
    "looks": "where heads look: offsets, </s>, punctuation, copies, the rarest word",
    "links": "which dependency relations encoder heads follow (--trees)",
    "align": "how well encoder-decoder heads align words (--alignments)",
    "effects": "what the log-probability loses without each head",
    "flow": "each head's share of all flow, and what edges do that it names",
    "resembles": "which heads of this model, and of those of --beside, look alike",
    "examples": "the clearest of 300 probe sentences in English for each head, by its role",
    "decode": "what BLEU and chrF of greedy translations lose without each head; slow",
    "prune": "BLEU and chrF against the number of heads that are left; slow, needs effects",
    "circuits": "which heads and networks carry number, tense and others of `analyse circuit`; takes minutes",
    "all": "all of these that have their files",
}
_FAST = ("looks", "links", "align", "effects", "flow", "resembles", "examples")
_MAX_BESIDE = 8
_MAX_SENTENCES = 10_000


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_list(_PARTS)
    parser.add_checkpoint()
    parser.add_path("--sentences", "Sentence pairs: a .tsv, .tsv.xz or .tsv.gz.", required=True)
    parser.add_path("--trees", "Two treebanks in CoNLL-U, as .conllu, .conllu.xz or .conllu.gz.", many=True)
    parser.add_path("--alignments", "Hand-aligned sentences, as `align` reads.")
    parser.add_path(
        "--beside", "Other models that read the same language.", form="DIR", many=True, read=find_checkpoint
    )
    about = "Some of these parts; by default all that are fast and have their files."
    parser.add_choice("--parts", _PARTS, about, form="NAME", many=True)
    parser.add_argument("--out", required=True, metavar="DIR", help="Folder of the atlas.")
    parser.add_number("--most", 1_000, "Sentences of --sentences that count for looks, the first.", most=_MAX_SENTENCES)
    about = "Sentences that count for effects, flow, decode and prune."
    parser.add_number("--most-effects", 1_000, about, most=_MAX_SENTENCES)
    about = "Sentences on which prune finds its greedy order; 0 for no such order."
    parser.add_number("--greedy", 8, about, least=0, most=_MAX_SENTENCES)
    parser.add_number("--draws", 1_000, "Draws of sentences, for the intervals.", least=100, most=10_000)
    parser.add_number("--seed", 0, "Of all that is drawn.", least=0)
    parser.add_number("--workers", 1, "Processes.", most=256)
    parser.add_machine()


def run(options: Options) -> int:
    """Measure an atlas."""
    if len(options.trees) not in (0, 2):
        raise UsageError(f"--trees has {len(options.trees)} files, but must have two: to choose on, and to test on")
    if len(options.beside) > _MAX_BESIDE:
        raise UsageError(f"--beside has {len(options.beside)} models, but may have {_MAX_BESIDE}")
    lacking = {"links": "" if options.trees else "--trees", "align": "" if options.alignments else "--alignments"}
    parts = options.parts
    if not parts or "all" in parts:
        parts = [name for name in (_PARTS if parts else _FAST) if name != "all" and not lacking.get(name)]
    if missing := [name for name in parts if lacking.get(name)]:
        raise UsageError(f"--parts: {missing[0]} needs {lacking[missing[0]]}")
    out = Path(options.out)
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out: {out} is not a folder")
    check_place("--out", out, inside=True)
    translator = load_translator(options)

    from transformer_core.atlas.measure import Task, measure
    from transformer_core.atlas.resumable_map import ResumableMap

    out.mkdir(parents=True, exist_ok=True)
    runner = ResumableMap(
        checkpoint=Path(options.checkpoint).resolve(),
        weights_hash=translator.checkpoint_hash,
        folder=out / "work",
        device=str(translator.model.embedding.weight.device),
        workers=options.workers,
    )
    task = Task(
        runner=runner,
        translator=translator,
        out=out,
        sentences=Path(options.sentences),
        trees=tuple(Path(path) for path in options.trees),
        alignments=Path(options.alignments) if options.alignments else None,
        other_models=tuple(Path(path).resolve() for path in options.beside),
        max_sentences=options.most,
        max_effects=options.most_effects,
        greedy=options.greedy,
        draws=options.draws,
        seed=options.seed,
    )
    with exclusive(out, waits=False):  # the first to end removes the results of both
        atlas = measure(task, parts)
    _write_summary(atlas, out)
    return 0


def _write_summary(atlas: Atlas, out: Path) -> None:
    """Print the role of every head that has one, and a summary."""
    from transformer_core.atlas.naming import first_roles, head_roles
    from transformer_core.atlas.storage import FILE

    roles = head_roles(atlas)
    rows = [["head", "role", "share", "95 %", "baseline", "n"]]
    for head, head_shares in roles.items():
        for role in first_roles(head_shares):
            value, low, high, baseline = (f"{each:.2f}" for each in role.shown.values())
            label = f"{role.label}, AER" if role.name == "aligner" else role.label
            rows.append([str(head), label, value, f"{low} to {high}", baseline, str(role.places)])
    write_table(rows)
    clear = sum(bool(shares) for shares in roles.values())
    sys.stdout.write(f"{clear} of {len(roles)} heads have a role\n")
    write_summary(
        {
            "atlas": str(out / FILE),
            "checkpoint_hash": atlas.weights_hash,
            "parts": sorted(atlas.sources),
            "heads": len(roles),
            "with_role": clear,
        }
    )

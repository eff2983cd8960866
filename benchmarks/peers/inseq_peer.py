"""Attribution of one sentence, beside Inseq on a MarianMTModel with the same weights: the same numbers, and the time.

    python -m benchmarks.peers.inseq_peer [--environment DIR] [--quick] [--clock cpu]

Inseq needs packages that nothing else here does. So this makes a virtual environment that sees the installed packages,
adds Inseq to it, and runs there. DIR keeps the environment for the next time.

Attributed is the log-probability, which is Inseq's cross-entropy with the sign turned; that one fails for a single
sentence (0.7.1). Values are compared before Inseq normalises or aggregates them. MarianMTModel's decoder multiplies
given embeddings by their scale, its encoder does not (transformers 5.23); so the scale is put into both tables.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.machine import interleaved, read_options, report
from benchmarks.peers.twins import copy_weights, marian
from transformer_core.analysis.attribution import Method, attribute
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import Translator

PACKAGES = ("inseq==0.7.1", "jaxtyping==0.3.11", "rich==15.0.0", "treescope==0.1.10", "typeguard==2.13.3",
            "wadler-lindig==0.1.8")  # fmt: skip
SENTENCE = "A man in a blue shirt is standing on a ladder cleaning a window."
QUICK = "A man rides."
PEERS: dict[str, Method] = {
    "attention": "attention",
    "saliency": "gradient",
    "input_x_gradient": "grad-x-input",
    "integrated_gradients": "integrated-gradients",
}
LAYER, HEAD = 3, 4  # from 0
STEPS = 32
NOT_COMPARED = "other baseline"  # Inseq starts integrated gradients from <unk>, we from zeros


def make_environment(folder: Path) -> Path:
    """A virtual environment with Inseq that sees the packages of this one; returns its Python."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    variables = {"base": str(folder), "platbase": str(folder)}
    own = Path(sysconfig.get_path("purelib", vars=variables))
    (own / "outer.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    command = [str(python), "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check", *PACKAGES]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return python


@torch.no_grad()
def twin_of(translator: Translator) -> Any:
    """A MarianMTModel with our weights whose embeddings are scaled already."""
    model = translator.model
    twin = marian(translator.config, attention="eager").eval()
    copy_weights(model, twin)
    twin.final_logits_bias.zero_()
    scaled = model.embedding.weight * model.embedding.scale
    for stack in (twin.model.encoder, twin.model.decoder):
        stack.embed_tokens = nn.Embedding.from_pretrained(scaled.clone())  # type: ignore[no-untyped-call]
        stack.embed_scale = 1.0
    for module in twin.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = translator.config.layer_norm_epsilon
    return twin


def hugging_face_tokenizer(translator: Translator) -> Any:
    """Reads our tokens with spaces between, so that both models get the same ids."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    ours = translator.tokenizer
    vocabulary = {ours.token(number): number for number in range(len(ours))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    end = [("</s>", ours.special.eos)]
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=end)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Of each method the largest difference, and the seconds of both."""
    from inseq.models import HuggingfaceModel

    translator = Translator.load(find_checkpoint("checkpoints/en-de"), options.device)
    twin, tokenizer = twin_of(translator).to(options.device), hugging_face_tokenizer(translator)
    source = QUICK if options.quick else SENTENCE
    target = translator.translate(source).text
    texts = [" ".join(translator.tokenizer.encode(text).tokens) for text in (source, target)]
    measurements = []
    for name, method in PEERS.items():
        peer = HuggingfaceModel.load(twin, name, tokenizer=tokenizer, device=options.device)
        extra = {"n_steps": STEPS, "internal_batch_size": STEPS} if method == "integrated-gradients" else {}

        def theirs(peer: Any = peer, extra: dict[str, int] = extra) -> Any:
            return peer.attribute(
                *texts,
                attribute_target=True,
                attributed_fn="probability",
                logprob=True,
                step_scores=[],
                show_progress=False,
                **extra,
            )

        def ours(method: Method = method) -> Any:
            return attribute(translator, source, target, method=method, steps=STEPS)

        rounds = options.rounds or (1 if options.quick else 5)
        seconds = interleaved({"ours": ours, "inseq": theirs}, rounds=rounds, options=options)
        measurements.append(
            {
                "method": method,
                "tokens": [int(number) for number in ours().source.shape],
                "difference": NOT_COMPARED if extra else _difference(translator, source, target, method, theirs()),
                "seconds": seconds,
                "speed": seconds["inseq"] / seconds["ours"],
            }
        )
    return measurements


def _difference(translator: Translator, source: str, target: str, method: Method, theirs: Any) -> str:
    """The largest between their values and ours, of source and target."""
    chosen: dict[str, Any] = {"layer": LAYER, "head": HEAD} if method == "attention" else {}
    ours = attribute(translator, source, target, method=method, **chosen)
    values = theirs.sequence_attributions[0]
    of_source, of_target = values.source_attributions.cpu(), values.target_attributions.cpu()
    if method == "attention":  # (S, T, L, H); our target has all heads of the layer
        of_source, of_target = of_source[:, :, LAYER, HEAD], of_target[:, :, LAYER].mean(dim=-1)
    elif method == "gradient":  # (S, T, d)
        of_source, of_target = of_source.norm(dim=-1), of_target.norm(dim=-1)
    else:
        of_source, of_target = of_source.sum(dim=-1), of_target.sum(dim=-1)

    def largest(theirs: Tensor, ours: Tensor) -> float:
        theirs = theirs.T[:, : ours.shape[1]].nan_to_num()  # the future is NaN; their last column is </s>, not read
        return float((theirs - ours.cpu()).abs().max())

    return f"{max(largest(of_source, ours.source), largest(of_target, ours.target)):.1e}"


def main() -> None:
    """Print a table, then one line of JSON."""
    options = read_options(
        __doc__,
        ("--environment", {"metavar": "DIR", "help": "Where the environment is, or is made; otherwise it is removed."}),
        ("--inside", {"action": "store_true", "help": argparse.SUPPRESS}),
    )
    if not options.inside:
        with tempfile.TemporaryDirectory() as temporary:
            python = make_environment(Path(options.environment or temporary))
            command = [str(python), "-W", "ignore", "-m", "benchmarks.peers.inseq_peer", "--inside", *sys.argv[1:]]
            raise SystemExit(subprocess.run(command, cwd=Path(__file__).parents[2]).returncode)
    measurements = measure(options)
    header = ["method", "largest difference", "ours s", "Inseq s", "Inseq / ours"]
    rows = [[e["method"], e["difference"], *e["seconds"].values(), e["speed"]] for e in measurements]
    report("Attribution of one sentence", header, rows, {"inseq_peer": measurements}, options)
    wrong = [e["method"] for e in measurements if e["difference"] != NOT_COMPARED and float(e["difference"]) > 1e-5]
    if wrong:
        raise SystemExit(f"not equal to Inseq: {', '.join(wrong)}")


if __name__ == "__main__":
    main()

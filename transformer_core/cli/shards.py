"""Several processes translate one file: who takes which lines, and how the answers come back in order.

Every process reads the whole input and takes the portions that are its own, one after the other in turn: process r of n
has portions r, r + n, r + 2n, ... It writes its answers to a file of its own beside the output. When all are done, the
first process weaves these files together and puts the result in place, whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count, cycle, islice
from pathlib import Path

from transformer_core.cli.options import UsageError

_PATIENCE = timedelta(days=30)  # the first process waits for the last, however slow; torchrun ends it if one dies


@dataclass(frozen=True)
class Shard:
    """One process among several.

    Args:
        rank: Its number, from 0.
        of: How many there are.
        local_rank: Its number on its own machine, which chooses the GPU.
    """

    rank: int = 0
    of: int = 1
    local_rank: int = 0

    @classmethod
    def from_environment(cls) -> Shard:
        """What torchrun says. Raises UsageError when its variables contradict each other."""
        rank, of = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
        local_rank = os.environ.get("LOCAL_RANK", "0")
        if not (rank.isdecimal() and of.isdecimal() and local_rank.isdecimal() and int(rank) < int(of)):
            raise UsageError(f"RANK is {rank!r} and WORLD_SIZE {of!r}, but RANK must be from 0 to WORLD_SIZE - 1")
        return cls(int(rank), int(of), int(local_rank))

    def portions(self, lines: Iterable[bytes], size: int) -> Iterator[tuple[int, list[bytes]]]:
        """Its own portions of the lines, each with the number of its first line, from 1."""
        each = iter(lines)
        for number in count():
            portion = list(islice(each, size))
            if not portion:
                return
            if number % self.of == self.rank:
                yield number * size + 1, portion

    def share(self, lines: int, size: int) -> int:
        """How many of so many lines are its own."""
        starts = range(self.rank * size, lines, self.of * size)
        return sum(min(size, lines - start) for start in starts)

    def part(self, output: Path, rank: int | None = None) -> Path:
        """The file that holds the answers of one process until all are done."""
        return output.with_name(f".{output.name}.{self.rank if rank is None else rank}-of-{self.of}.partial")


@contextmanager
def together(shard: Shard) -> Iterator[None]:
    """Leave the block only when every process is done with it. Nothing happens if there is one process only."""
    if shard.of == 1:
        yield
        return
    import torch.distributed as dist

    dist.init_process_group("gloo", timeout=_PATIENCE)
    try:
        yield
        dist.barrier()
    finally:
        dist.destroy_process_group()


def weave(shard: Shard, output: Path, size: int) -> None:
    """Put the answers of all processes in order into the output; `size` lines make a portion."""
    parts = [shard.part(output, rank) for rank in range(shard.of)]
    woven = output.with_name(f".{output.name}.partial")
    with ExitStack() as stack:
        # Lines end at "\n" alone; Python's own reading of text would split at more.
        readers = [stack.enter_context(part.open("rb")) for part in parts]
        writer = stack.enter_context(woven.open("wb"))
        for reader in cycle(readers):
            portion = list(islice(reader, size))
            writer.writelines(portion)
            if len(portion) < size:  # only the last portion of all is short
                break
    woven.replace(output)
    for part in parts:
        part.unlink()

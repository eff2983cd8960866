"""Share the lines of one file among several processes, and merge their results in order.

Every process reads the whole input and takes its own chunks of lines, round-robin: process r of n has chunks r, r + n,
r + 2n, ... It writes its results to a partial file beside the output. When all are done, process 0 merges these files
into the output, atomically.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count, cycle, islice
from pathlib import Path

from transformer_core.cli.arguments import UsageError
from transformer_core.storage.files import name_file, replace_file

_TIMEOUT = timedelta(days=30)  # process 0 waits for the slowest; torchrun ends it if another one dies


@dataclass(frozen=True)
class Shard:
    """One of several processes.

    Args:
        rank: Its number, from 0.
        world_size: Number of processes.
        local_rank: Its number on its machine, which selects the GPU.
    """

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0

    @classmethod
    def from_environment(cls) -> Shard:
        """Read torchrun's variables. Raises UsageError when they contradict each other."""
        rank, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
        local_rank = os.environ.get("LOCAL_RANK", "0")
        if not (rank.isdecimal() and size.isdecimal() and local_rank.isdecimal() and int(rank) < int(size)):
            raise UsageError(f"RANK is {rank!r} and WORLD_SIZE {size!r}, but RANK must be from 0 to WORLD_SIZE - 1")
        return cls(int(rank), int(size), int(local_rank))

    def chunks(self, lines: Iterable[bytes | None], size: int) -> Iterator[tuple[int, list[bytes | None]]]:
        """Yield its own chunks of `size` lines, each with the number of its first line, from 1."""
        each = iter(lines)
        for number in count():
            chunk = list(islice(each, size))
            if not chunk:
                return
            if number % self.world_size == self.rank:
                yield number * size + 1, chunk

    def line_count(self, lines: int, size: int) -> int:
        """Count the lines of its own chunks, of `lines` lines in total."""
        starts = range(self.rank * size, lines, self.world_size * size)
        return sum(min(size, lines - start) for start in starts)

    def part(self, output: Path, rank: int | None = None) -> Path:
        """Return the file of one process's results until all are done."""
        return output.with_name(f".{output.name}.{self.rank if rank is None else rank}-of-{self.world_size}.partial")


@contextmanager
def barrier(shard: Shard) -> Iterator[None]:
    """Leave the block only when every process has; do nothing with one process."""
    if shard.world_size == 1:
        yield
        return
    import torch.distributed as dist

    dist.init_process_group("gloo", timeout=_TIMEOUT)
    try:
        yield
        dist.barrier()
    finally:
        dist.destroy_process_group()


def merge_parts(shard: Shard, output: Path, size: int) -> None:
    """Merge the results of all processes into the output, in order; a chunk has `size` lines."""
    parts = [shard.part(output, rank) for rank in range(shard.world_size)]
    merged = output.with_name(f".{output.name}.partial")
    try:
        with ExitStack() as stack:
            # Lines end at "\n" alone; reading as text would split at other characters too.
            readers = [stack.enter_context(part.open("rb")) for part in parts]
            writer = stack.enter_context(merged.open("wb"))
            for reader in cycle(readers):
                chunk = list(islice(reader, size))
                writer.writelines(chunk)
                if len(chunk) < size:  # only the very last chunk is short
                    break
        replace_file(merged, output)
    except OSError as error:
        name_file(error, output)
        raise
    finally:
        for part in (merged, *parts):
            part.unlink(missing_ok=True)

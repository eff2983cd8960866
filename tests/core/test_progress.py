"""Progress bars come and go with the terminal, and training does without tqdm."""

from __future__ import annotations

import sys

import pytest

from transformer_core.progress import progress_bar, tracked


@pytest.mark.parametrize("installed", [True, False])
def test_nothing_is_written_where_there_is_no_terminal(
    installed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "tqdm", None)  # makes `import tqdm` fail
    with progress_bar(unit="step", total=3, done=1) as bar:
        bar.update()
        bar.update(1)
        bar.set_postfix_str("loss=1.00", refresh=False)
    assert list(tracked(iter("abc"), unit="letter")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_an_error_in_the_block_passes() -> None:
    with pytest.raises(KeyError), progress_bar(unit="step"):
        raise KeyError("x")

"""Progress bars come and go with the terminal."""

from __future__ import annotations

import pytest

from transformer_core.progress import progress_bar, tracked


@pytest.mark.parametrize("shown", [True, False])
def test_nothing_is_written_where_there_is_no_terminal(shown: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(unit="step", total=3, done=1, shown=shown) as bar:
        bar.update()
        bar.set_postfix_str("loss=1.00", refresh=False)
    assert list(tracked(iter("abc"), unit="letter")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_no_bar_in_other_processes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress_bar(unit="step", total=3, shown=False) as bar:
        bar.update()
    assert capsys.readouterr().err == ""
    with progress_bar(unit="step", total=3):
        pass
    assert "step" in capsys.readouterr().err

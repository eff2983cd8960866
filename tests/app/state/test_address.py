"""The part of a page's state that lives in its URL, and links to share."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_core.attention_maps import KINDS
from viz_app.cli.class_ import announcement, command
from viz_app.components.explorer.selection import CHOICES, Selection
from viz_app.serving.server_address import is_loopback
from viz_app.state import share_link as module
from viz_app.state.query_params import selection_from_params, selection_to_params
from viz_app.state.share_link import qr_rows, share_link

BEST = Selection(kind="cross", layer=4, head=2)

selections = st.builds(
    Selection,
    **{name: st.sampled_from(choices) for name, choices in CHOICES.items()},
    layer=st.integers(0, 11),
    head=st.integers(0, 15),
    step=st.none() | st.integers(1, 178),
    special=st.booleans(),
    threshold=st.integers(0, 99),
    pin=st.none() | st.builds("{}{}".format, st.sampled_from("qk"), st.integers(0, 511)),
    against=st.none() | st.builds("{}.{}.{}".format, st.sampled_from(KINDS), st.integers(1, 12), st.integers(1, 16)),
    branch=st.integers(0, 40),
    vs=st.none() | st.sampled_from(("A cat.", "나는 학교에 간다")),
    vsmodel=st.none() | st.sampled_from(("big", "en-fr (2)")),
    vsbranch=st.integers(0, 40),
    force=st.none() | st.lists(st.sampled_from(("\u2581Der", "\u2581kleine", "n", "</s>")), min_size=1).map(" ".join),
)


@given(selections)
def test_a_link_carries_the_whole_selection(selection: Selection) -> None:
    params = {name: value for name, value in selection_to_params(selection).items() if value is not None}
    if selection.against is None:  # without a pinned head there is no comparison
        selection = replace(selection, vs=None, vsmodel=None, vsbranch=0)
    assert selection_from_params(params, BEST) == selection


def test_layers_and_heads_count_from_one() -> None:
    shown = {name: value for name, value in selection_to_params(BEST).items() if value is not None}
    assert shown == {"head": "cross.5.3"}
    other = selection_to_params(Selection(pin="q0", against="cross.6.8", branch=2, threshold=5, special=False))
    assert (other["pin"], other["against"], other["branch"]) == ("q1", "cross.6.8", "3")
    assert (other["threshold"], other["special"]) == ("5", "off")
    assert selection_from_params({"vs": "A  cat. "}, BEST).vs == "A cat."
    assert selection_from_params({"head": "encoder.1.8"}, BEST) == Selection(kind="encoder", layer=0, head=7)


@pytest.mark.parametrize(
    "bad", ["0", "-1", "1.5", "cross.0.1", "cross.1", "", "²", "99999", "1e3", "../etc", "<b>", "٣"]
)
def test_nonsense_is_left_out_of_account(bad: str) -> None:
    params = dict.fromkeys((*CHOICES, "head", "step", "special", "threshold", "pin", "against", "branch"), bad)
    assert selection_from_params(params, BEST) == BEST


PARAMS = {"lesson": "positions", "text": "Is it <b>50 %</b> & more?", "with": None}
LAN = "192.168.1.20"


@pytest.mark.parametrize(
    ("seen", "bound", "host", "reached"),
    [
        ("http://localhost:8501/lessons", "127.0.0.1", "localhost:8501", False),
        ("http://localhost:8501/lessons", "0.0.0.0", f"{LAN}:8501", True),
        ("http://localhost:8501/lessons", None, f"{LAN}:8501", True),
        ("http://10.0.0.7:8501/", "0.0.0.0", "10.0.0.7:8501", True),
        ("https://class.example.org/lessons", "", "class.example.org", True),
        ("http://[::1]:8501/", "::1", "[::1]:8501", False),
        ("", "127.0.0.1", "localhost", False),
    ],
)
def test_the_link_names_a_host_that_the_class_can_reach(seen: str, bound: str | None, host: str, reached: bool) -> None:
    shared = share_link(seen, bound, "lessons", PARAMS, LAN)
    parts = urlsplit(shared.url)
    assert (parts.netloc, parts.path, shared.is_reachable) == (host, "/lessons", reached)
    assert parse_qs(parts.query) == {"lesson": ["positions"], "text": [PARAMS["text"]]}


@pytest.mark.parametrize("prefix", ["", "/headlight", "/a/b%20c", "/lessons"])
@pytest.mark.parametrize("slash", ["", "/"])
def test_the_link_keeps_what_stands_before_the_page(prefix: str, slash: str) -> None:
    """As behind a proxy, or with server.baseUrlPath."""
    host = "http://host:8501"
    lesson = share_link(f"{host}{prefix}/lessons{slash}", None, "lessons", {"lesson": "why"}, None)
    assert lesson.url == f"{host}{prefix}/lessons?lesson=why"
    assert share_link(f"{host}{prefix}{slash}", None, "", {}, None).url == f"{host}{prefix}/"


def test_without_a_network_only_this_computer_is_named() -> None:
    shared = share_link("http://localhost:8501/", "0.0.0.0", "", {}, None)
    assert (shared.url, shared.is_reachable) == ("http://localhost:8501/", False)


@pytest.mark.parametrize(
    ("seen", "port"), [("http://a:8600/", 8601), ("http://a/", 8502), ("http://[", 8502), ("http://a:65535/", 1)]
)
def test_the_command_opens_a_port_that_this_server_does_not_hold(seen: str, port: int) -> None:
    assert share_link(seen, "127.0.0.1", "", {}, LAN).command == f"python -m viz_app class --port {port}"


def test_loopback() -> None:
    assert is_loopback("127.0.0.5") and is_loopback("::1") and is_loopback("localhost")
    assert not is_loopback("10.0.0.7") and not is_loopback("example.org")


def test_the_code_has_its_corners_and_refuses_what_is_too_long() -> None:
    rows = qr_rows("http://192.168.1.20:8501/lessons?text=</svg><script>")
    assert rows is not None
    assert {len(row) for row in rows} == {len(rows)} and set("".join(rows)) == {"0", "1"}
    # A code has a square of seven modules in three corners (ISO/IEC 18004).
    finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    assert [row[:7] for row in rows[:7]] == [row[-7:] for row in rows[:7]] == [row[:7] for row in rows[-7:]] == finder
    assert qr_rows("x" * 5_000) is None


def test_the_class_sees_address_and_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "lan_address", lambda: LAN)
    actual = announcement(8600, "the-key")
    assert f"For the class: http://{LAN}:8600\n" in actual
    assert "this computer: http://localhost:8600/classroom\n" in actual
    assert actual.endswith("from another computer: the-key\n")
    assert len(actual.splitlines()) > 10
    monkeypatch.setattr(module, "lan_address", lambda: None)
    assert "is not on a network" in announcement(8600, "the-key")
    assert {"--server.address=0.0.0.0", "--server.port=8600"} <= set(command(8600))
    assert re.search(r"main\.py$", command(8600)[4])

"""A text that is longer than anybody reads is refused with a message, and the session keeps nothing of it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.app.conftest import MAIN
from viz_app.serving.input_validation import MAX_CHARACTERS
from viz_app.state.session import TEXT_KEY
from viz_app.text import texts
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE


def warnings(page: AppTest) -> list[str]:
    return [str(each.value) for each in page.warning]


def test_a_long_text_is_refused_and_the_sentence_before_it_comes_back() -> None:
    page = AppTest.from_file(str(MAIN), default_timeout=120).run()
    page.text_input(key=TEXT_KEY).set_value("A dog is running.").run()
    long = "a b " * MAX_CHARACTERS
    page.text_input(key=TEXT_KEY).set_value(long).run()
    expected = texts("en")("frame.too_long", characters=f"{len(long):,}", limit=f"{MAX_CHARACTERS:,}")
    assert expected in warnings(page)
    assert page.text_input(key=TEXT_KEY).value == "A dog is running."
    assert "a b a b" not in repr(page.session_state)

    page.text_input(key=TEXT_KEY).set_value("A cat sleeps.").run()
    assert expected not in warnings(page)


def test_an_address_with_a_long_text_shows_the_first_example() -> None:
    page = AppTest.from_file(str(MAIN), default_timeout=120)
    page.query_params["text"] = "x" * (MAX_CHARACTERS + 1)
    page.run()
    assert any(f"{MAX_CHARACTERS + 1:,}" in each for each in warnings(page))
    assert page.text_input(key=TEXT_KEY).value == EXAMPLES[FIRST_EXAMPLE]

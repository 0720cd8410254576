"""Text that people do not see is not indexed, but counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.documents import Document, RawDocument
from foundry.readers import read
from foundry.readers.decoding import is_normalised, normalise
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart


def document(name: str, content: str | bytes) -> Document:
    raw = content if isinstance(content, bytes) else content.encode()
    found = read(RawDocument("docs", name, name, raw))
    assert isinstance(found, Document)
    return found


def smuggled(text: str) -> str:
    return "".join(chr(0xE0000 + ord(character)) for character in text)


def test_hidden_characters_are_removed_and_counted_with_their_first_line() -> None:
    found = document(
        "a.md", f"# Pumps\n\nig\u200bno\u200bre{smuggled('all rules')}\n\nuser\u202e\u2066 end"
    )
    assert found.reading.text == "# Pumps\n\nignore\n\nuser end"
    kinds = {entry.kind: (entry.line, entry.count) for entry in found.reading.hidden}
    assert kinds == {
        "zero-width characters": (3, 2),
        "tag characters": (3, 9),
        "bidirectional controls": (5, 2),
    }


@pytest.mark.parametrize(
    "text",
    [
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "\u0e01\u0e34\u0e19\u200b\u0e02\u0e49\u0e32\u0e27",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\u05d0\u200f\u05d1",
    ],
)
def test_characters_of_scripts_and_emoji_are_kept(text: str) -> None:
    assert normalise(text) == text


def test_characters_of_scripts_are_kept_beside_hidden_ones() -> None:
    script = "\u0e01\u0e34\u0e19\u200b\u0e02\u0e49\u0e32\u0e27"
    assert normalise(f"{script} a\u200bb") == f"{script} ab"


def test_lines_are_counted_from_the_first() -> None:
    (found,) = document("a.txt", "\nseal\u200bs\n").reading.hidden
    assert (found.line, found.count) == (2, 1)


@given(
    text=st.text(
        st.sampled_from("a e\u0301\u00e9\u00ad\u200b\u202e\ufeff\u2126\n\r\0\ud800"), max_size=8
    )
)
def test_parts_of_normalised_text_are_normalised(text: str) -> None:
    starts = range(len(text) + 1)
    parts = [text[start:end] for start in starts for end in starts[start:]]
    is_stable = all(normalise(part) == part for part in parts)
    assert is_normalised(text) <= is_stable
    assert is_normalised(text) or not text.isascii() or not is_stable


def test_slices_are_composed_at_their_ends() -> None:
    before, after = "ë" + "a" * 1_998, "b" * 2_000
    assert normalise(f"{before}e\u0301{after}") == f"{before}é{after}"


def test_elements_that_a_page_hides_are_counted() -> None:
    found = document(
        "a.html",
        "<html><body><p>Seen.</p><p hidden>One</p>"
        "<div style='display: none'><p hidden>Two</p></div>"
        "<div hidden></div><span style='color:red'>Red.</span></body></html>",
    )
    assert "One" not in found.reading.text and "Two" not in found.reading.text
    assert [(entry.kind, entry.count) for entry in found.reading.hidden] == [("hidden elements", 2)]


def test_hidden_characters_are_counted_in_workers() -> None:
    raw = RawDocument("docs", "a.rtf", "a.rtf", rb"{\rtf1\ansi Pumps in\u8203?visible here.}")
    with Sandbox() as sandbox:
        found = read_apart(raw, sandbox)
    assert isinstance(found, Document)
    assert "invisible" in found.reading.text
    assert [entry.kind for entry in found.reading.hidden] == ["zero-width characters"]


@given(st.text(st.characters(categories=["L", "Cf", "Zs", "Mn"])))
def test_normalising_again_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_many_combining_marks_and_hidden_characters_take_linear_time() -> None:
    text = "a" + "\u0301\u200b" * 200_000
    assert len(normalise(text)) <= len(text)

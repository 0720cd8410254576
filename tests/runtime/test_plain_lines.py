"""Lines of an answer are displayed as they are, as plain text and code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from foundry.runtime.chat.text import keep_plain


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Run it with --output=<path>, then wait.", "Run it with `--output=<path>`, then wait."),
        ("Pass <your own name> to it.", "Pass `<your own name>` to it."),
        ("It takes *args (see f(*args)).", "It takes `*args` (see `f(*args)`)."),
        ("As shown in [1], it works.", "As shown in `[1]`, it works."),
        ("Use `a<b>` or (<c>).", "Use `a<b>` or (`<c>`)."),
        ("Write [name](url) and ~~x y~~.", "Write `[name](url)` and `~~x` `y~~`."),
        ("Use <a>`b` here.", "``Use <a>`b` here.``"),
        ("- <x> of an item", "`- <x> of an item`"),
        ("2 * 3 and snake_case", "2 * 3 and snake_case"),
    ],
)
def test_only_words_that_markdown_would_change_are_marked_as_code(written: str, shown: str) -> None:
    assert keep_plain(written) == shown


@given(st.text("ab <>/!*_~[]()1\\.,:'\"", min_size=1, max_size=40).map(str.strip).filter(bool))
def test_all_characters_of_a_line_are_displayed(line: str) -> None:
    (token,) = MarkdownIt("commonmark").parseInline(keep_plain(line))
    children = token.children or []
    assert {child.type for child in children} <= {"text", "code_inline"}
    assert "".join(child.content for child in children) == line

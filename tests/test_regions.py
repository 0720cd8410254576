"""Regions of runtime modules: cut where nothing that they name was chosen."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import black
import pytest

from foundry.errors import RenderError
from foundry.files import templates_folder
from foundry.rendering.copying import RUNTIME
from foundry.rendering.regions import LINE_LENGTH, cut_regions

TESTS = templates_folder() / "server" / "tests"
MARKED = [
    path
    for folder in (RUNTIME, TESTS)
    for path in sorted(folder.rglob("*.py"))
    if re.search(r"(?m)^\s*# [\[\]]", path.read_text(encoding="utf-8"))
]
NAMES = re.compile(r"(?m)^\s*# \[(.*)$")
MODE = black.Mode(line_length=LINE_LENGTH, target_versions={black.TargetVersion.PY311})


def cut(text: str, **chosen: bool) -> str:
    return cut_regions(dedent(text), chosen)


TEXT = """\
    import math
    import re
    from collections import Counter, OrderedDict

    from .settings import settings

    # [chat
    LIMIT = math.pi * Counter(settings()).total()


    # ]
    class Callers:
        kept: OrderedDict
        # [chat
        words = re.compile("x")
        # [mcp or page
        both = 2
        # ]
        # ]
    """


def test_what_was_not_chosen_is_gone_with_its_imports() -> None:
    assert cut(TEXT, chat=False, mcp=True, page=True) == dedent("""\
        from collections import OrderedDict

        class Callers:
            kept: OrderedDict
        """)


def test_what_was_chosen_stays_without_marks() -> None:
    lines = dedent(TEXT).splitlines(keepends=True)
    whole = "".join(line for line in lines if "# " not in line)
    assert cut(TEXT, chat=True, mcp=False, page=True) == whole
    assert cut(TEXT, chat=True, mcp=True, page=False) == whole
    inner = cut(TEXT, chat=True, mcp=False, page=False)
    assert inner == whole.replace("    both = 2\n", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\n# [chats\n# ]\n", "line 2: nothing is called 'chats'"),
        ("# [chat or\n# ]\n", "line 1: nothing is called 'chat or'"),
        ("# [\n# ]\n", "line 1: nothing is called ''"),
        ("# [chat,page\n# ]\n", "line 1: nothing is called 'chat,page'"),
        ("# [chat\n# ]\n# ]\n", "line 3: closes no region"),
        ("# [chat\n# [chat\n# ]\n", "line 1: is not closed"),
        ("# ] chat\n", "line 1: is no mark"),
    ],
)
def test_marks_that_mean_nothing_are_refused(text: str, message: str) -> None:
    with pytest.raises(RenderError, match=f"^{re.escape(message)}$"):
        cut(text, chat=True)


def test_imports_are_written_on_one_line_if_they_fit() -> None:
    names = [f"name_{number:02}" for number in range(12)]
    listed = "".join(f"    {name},\n" for name in names)
    used = f"print({', '.join(names[:-1])})\n"
    assert cut_regions(f"from .x import (\n{listed})\n# [a\n# ]\n{used}", {"a": False}) == (
        f"from .x import (\n{listed}".replace(f"    {names[-1]},\n", "") + f")\n{used}"
    )
    assert cut_regions(f"from .x import (\n{listed})\n# [a\n# ]\nname_01\n", {"a": False}) == (
        "from .x import name_01\nname_01\n"
    )


def test_brackets_and_paragraphs_close_around_what_is_gone() -> None:
    text = """\
        def read(
            # [page
            name: str,
            # ]
        ) -> None:
            first()

            # [page
            second()

            # ]

        # [page
        KEPT = 1

        # ]
        """
    assert cut(text, page=False) == "def read() -> None:\n    first()\n"
    assert cut(text, page=True).count("\n\n") == 2


def test_a_region_may_be_for_what_was_not_chosen() -> None:
    text = """\
        # [not chat
        ask = search
        # ]
        # [chat or not page
        ask = answer
        # ]
        """
    assert cut(text, chat=False, page=True) == "ask = search\n"
    assert cut(text, chat=True, page=True) == "ask = answer\n"
    assert cut(text, chat=False, page=False) == "ask = search\nask = answer\n"
    with pytest.raises(RenderError, match="nothing is called 'pages'"):
        cut("# [not pages\n# ]\n", page=True)


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("said = [\n    # [a\n    one,\n    # ]\n    two,\n]\n", "said = [one, two]\n"),
        ("said = [\n    # [b\n    one,\n    # ]\n    two,\n]\n", "said = [two]\n"),
        ("say(\n    # [b\n    one,\n    # ]\n    two,\n)\n", "say(two)\n"),
        ("said = (\n    # [b\n    one,\n    # ]\n    two,\n)\n", "said = (two,)\n"),
        ("say(\n    one,\n    two,\n)\n# [a\n# ]\n", "say(\n    one,\n    two,\n)\n"),
        ("say(\n    # [a\n    one,  # No.\n    # ]\n)\n", "say(\n    one,  # No.\n)\n"),
        (
            "say(\n    tell(\n        # [a\n        one,\n        # ]\n    ),\n    two,\n)\n",
            "say(\n    tell(one),\n    two,\n)\n",
        ),
        (
            "say(\n    # [a\n    tell(\n        # [a\n        two,\n        # ]\n    ),\n"
            "    # ]\n)\nsay(\n    one,\n    two,\n)\n",
            "say(tell(two))\nsay(\n    one,\n    two,\n)\n",
        ),
        (
            f"say(\n    # [a\n    {60 * 'a'},\n    # ]\n    {34 * 'b'},\n)\n",
            f"say(\n    {60 * 'a'}, {34 * 'b'}\n)\n",
        ),
        (
            f"say(\n    # [a\n    {60 * 'a'},\n    # ]\n    {40 * 'b'},\n)\n",
            f"say(\n    {60 * 'a'},\n    {40 * 'b'},\n)\n",
        ),
        (
            f"said = [\n    # [a\n    {60 * 'a'},\n    # ]\n    {30 * 'b'},\n]\n",
            f"said = [\n    {60 * 'a'},\n    {30 * 'b'},\n]\n",
        ),
    ],
)
def test_brackets_around_a_region_close_as_black_has_them(text: str, closed: str) -> None:
    assert cut(text, a=True, b=False) == closed
    assert black.format_str(closed, mode=MODE) == closed


def test_a_text_without_marks_is_left_as_it_is() -> None:
    text = "import os  # Imported for what it does.\n\n\n\n"
    assert cut_regions(text, {}) == text


def variants() -> Iterator[tuple[str, str]]:
    """Each module with all of what its marks name, with one of it, and with nothing."""
    for path in MARKED:
        text = path.read_text(encoding="utf-8")
        names = {
            name for mark in NAMES.findall(text) for name in mark.replace("not ", "").split(" or ")
        }
        choices = [names, *([name] for name in sorted(names)), []]
        cut = [cut_regions(text, {name: name in chosen for name in names}) for chosen in choices]
        for place, text in enumerate(dict.fromkeys(cut)):
            yield f"{path.stem}_{place}.py", text


def test_each_choice_leaves_clean_modules(tmp_path: Path) -> None:
    """No name is lost, none is idle, and black leaves them as they are."""
    for name, text in variants():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert black.format_str(text, mode=MODE) == text, name
    command = [sys.executable, "-m", "ruff", "check", "--select=F,I", "--no-cache", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

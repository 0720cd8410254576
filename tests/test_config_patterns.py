"""Which of the owner's regular expressions could hang a search."""

import subprocess
import sys

import pytest

from foundry.config.patterns import check_pattern
from foundry.runtime.retrieval.identifiers import MAX_PATTERN_INPUT


@pytest.mark.parametrize(
    "pattern",
    [
        r"[A-Z]+(?:-[A-Z]+)*-\d+",
        r"[A-Z]{2,5}-\d{3,6}(?:\.\d+)*[a-z]?",
        r"(?:REQ|RFC|CR)-\d+",
        r"(?:AB|AC)+",
        r"(?i)[a-z]+\d+",
        r"(?:\d+\.)+\d+",
        r"ISO[ -]?\d+(?:-\d+)?(?::\d{4})?",
        r"(?=.*\d)\w+",
        r".*foo.*bar",
        r"\d+ CFR \d+\.\d+",
        r"(?:[A-Z]++-?)+\d+",
        r"(?>[A-Z]+-?)+\d+",
        r"(?:(?>a|ab)-)+",
        r"(?P<part>[^\]\[)(]+)\(\d+\)",
        r"[]-]+(?:\([|*]\))?",
        r"(?i)(?:a(?!b)c)+",
        r"(?<=x)\d{3,}",
        r"[A-Z]{,3}(?#no digits yet)-\d{2}",
        r"{}\{a,b\}*",
        r"\N{LATIN SMALL LETTER A}+\u00e9?\x2d",
    ],
)
def test_unambiguous_patterns_are_accepted(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:[A-Z]+-?)+\d+",
        r"(a*)*b",
        r"(?:a?){25}a{25}",
        r"(?:a|a)+b",
        r"(?:a|b|ab)+c",
        r"(?:\w{1,3}){50}x",
        r"(?:[a-z]+\s?)+!",
        r"(?:a(?:b*)?)+!",
        r"(?i:(?:a+A?)+)!",
        r"(?:[^\W\d]+\w?)+!",
        r".*a.*b.*c",
        "a?" * 25 + "a" * 25,
        r"(?:a(?=a*b)a)+",
        r"(\w)\1",
        r"(?P<one>\w)(?P=one)",
        r"(-)?(?(1)a|b)",
        r"(?:a|[ab])+c",
        r"(?:\w|\N{LATIN SMALL LETTER A})+!",
        r"(?:\x61|a)+!",
        r"(?:a+|b)+!",
        r"(?:ab|a(?:b|c))+!",
        r"(?i:(?:A|[a]b?)+)!",
        r"(?:[]a]+]?)+!",
        r"(?:[^\])]+x?)+!",
        r"(?:a{2,}a?)+!",
        r"(?:a{,3}b?)+!",
        r"(?:(?=a+)a)+!",
        r"(?:(?<!b)a?a)+!",
        r"(?>(?:a+)+)!",
        r"(?:(?:a|ab)(?:c|bc))++!",
        r"(?:(?>a*a*a*b)c)+",
        r"(?:ñ+ñ?)+!",
        r"(?x) a+ a+ # a",
        r"(?:(?P<one>a)|[^a])++",
        r"(?>(a)|[^a])+",
        "(?:" * 300 + "a" + "|b)" * 300,
    ],
)
def test_patterns_that_could_hang_a_search_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="may take too long") as error:
        check_pattern(pattern)
    assert repr(pattern) in str(error.value)


def test_deeply_nested_groups_are_checked_fast() -> None:
    nested = "a"
    for _ in range(40):
        nested = f"(?:{nested}b)+c"
    check_pattern(nested)


FUZZ = """
import random, re
from foundry.config.patterns import check_pattern
chooser = random.Random(7)
atoms = ["a", "b", "[ab]", "[^a]", "[]a]", r"[\\\\]a-]", r"\\\\d", r"\\\\w", "-", ".", "1"]
atoms += ["(?i:A)", r"\\\\b", "(?=a)", "(?!b)", "(?<=a)", r"\\\\x61", "{", "(?#a)", "]"]
ends = ["*", "+", "?", "{2,5}", "{0,30}", "*?", "{20}", "{,4}", "{3,}", "++", "*+", "{2,3}+"]
groups = ["(?:", "(?:", "(?:", "(", "(?i:", "(?>", "(?="]
def grow(depth):
    kind = chooser.random()
    if depth == 0 or kind < 0.35:
        return chooser.choice(atoms)
    if kind < 0.6:
        return grow(depth - 1) + grow(depth - 1)
    if kind < 0.75:
        return f"(?:{grow(depth - 1)}|{grow(depth - 1)})"
    return f"{chooser.choice(groups)}{grow(depth - 1)}){chooser.choice(ends)}"
hard = [text * (199 // len(text)) + "!" for text in ("a", "b", "ab", "a1", "-a", "aab")]
accepted = refused = 0
while accepted < 300:
    pattern = grow(4)
    try:
        check_pattern(pattern)
        compiled = re.compile(pattern)
    except ValueError:
        refused += 1
        continue
    accepted += 1
    for text in hard:
        compiled.fullmatch(text)
print(refused > 0)
"""


def test_no_accepted_pattern_hangs() -> None:
    """The patterns are tried in their own process, since a match cannot be interrupted."""
    code = FUZZ.replace("\\\\", "\\")
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (run.stdout.strip(), run.stderr) == ("True", "")


def test_patterns_are_judged_for_texts_of_at_most_200_characters() -> None:
    assert MAX_PATTERN_INPUT == 200
    check_pattern(r"\w*\w*")
    with pytest.raises(ValueError, match=r"8,120,601 ways"):
        check_pattern(r"\w*\w*\w*x")

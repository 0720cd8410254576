"""Three-way merges: hand-made cases, properties, and a comparison with git if it is installed."""

import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from systems import needs_git

from foundry.export.merge import merge
from foundry.export.package_files import has_conflicts

BASE = "".join(f"line {number}\n" for number in range(12))
texts = st.lists(st.sampled_from("abcd"), max_size=8).map(
    lambda letters: "".join(f"{letter}\n" for letter in letters)
)


def replace(text: str, number: int, line: str) -> str:
    lines = text.splitlines(keepends=True)
    lines[number] = line
    return "".join(lines)


def test_changes_of_both_sides_are_merged() -> None:
    merged = merge(BASE, replace(BASE, 2, "yours\n"), replace(BASE, 8, "generated\n"))
    assert merged.conflicts == 0
    assert merged.text == replace(replace(BASE, 2, "yours\n"), 8, "generated\n")


def test_separate_insertions_and_deletions_are_both_applied() -> None:
    yours = BASE.replace("line 1\n", "line 1\nadded\n")
    generated = BASE.replace("line 9\n", "")
    merged = merge(BASE, yours, generated)
    assert merged.conflicts == 0
    assert merged.text == yours.replace("line 9\n", "")


def test_a_line_changed_by_both_sides_is_a_conflict() -> None:
    merged = merge(BASE, replace(BASE, 5, "yours\n"), replace(BASE, 5, "generated\n"))
    assert merged.conflicts == 1
    marked = "<<<<<<< yours\nyours\n=======\ngenerated\n>>>>>>> generated\n"
    assert merged.text == replace(BASE, 5, marked)
    assert has_conflicts(merged.text.encode())
    assert not has_conflicts(BASE.encode())


def test_last_lines_without_a_newline_are_separate_in_a_conflict() -> None:
    merged = merge("a", "b", "c")
    assert merged.text == "<<<<<<< yours\nb\n=======\nc\n>>>>>>> generated\n"
    merged = merge("a", "b\nb", "c\nc")
    assert merged.text == "<<<<<<< yours\nb\nb\n=======\nc\nc\n>>>>>>> generated\n"


def test_line_ends_of_the_owner_are_kept() -> None:
    yours = replace(BASE, 2, "yours\n").replace("\n", "\r\n")
    merged = merge(BASE, yours, replace(BASE, 8, "generated\n"))
    assert merged.conflicts == 0
    assert merged.text == replace(replace(BASE, 2, "yours\n"), 8, "generated\n").replace(
        "\n", "\r\n"
    )


def test_mixed_line_ends_are_kept() -> None:
    yours = replace(replace(BASE, 2, "yours\r\n"), 3, "more\r\n")
    merged = merge(BASE, yours, replace(BASE, 8, "generated\n"))
    assert merged.text == replace(yours, 8, "generated\n")


@given(texts, texts)
def test_the_only_changed_side_is_used(base: str, other: str) -> None:
    assert merge(base, base, other).text == other
    assert merge(base, other, base).text == other
    assert merge(base, other, other).text == other


@given(texts, texts, texts)
def test_no_line_of_either_side_is_lost(base: str, yours: str, generated: str) -> None:
    merged = merge(base, yours, generated)
    assert has_conflicts(merged.text.encode()) == bool(merged.conflicts)
    for side in (yours, generated):
        for line in set(side.splitlines()) - set(base.splitlines()):
            assert merged.text.splitlines().count(line) >= 1
    # If the other side contributed only conflicts, each side can be restored from them.
    swapped = merge(base, generated, yours)
    assert swapped.conflicts == merged.conflicts


@needs_git
@pytest.mark.parametrize("seed", range(8))
def test_edits_far_apart_are_merged_as_git_does(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    base = [f"line {number} {chance.randrange(5)}\n" for number in range(80)]
    yours, generated = list(base), list(base)
    for place in range(0, 80, 8):
        side = chance.choice([yours, generated])
        kind = chance.choice(["change", "delete", "insert"])
        index = side.index(base[place + 3])
        if kind == "delete":
            del side[index]
        else:
            side[index : index + (kind == "change")] = [f"new {place}\n"]
    for name, lines in (("base", base), ("yours", yours), ("generated", generated)):
        (tmp_path / name).write_text("".join(lines))
    command = ["git", "merge-file", "-p", "yours", "base", "generated"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    merged = merge("".join(base), "".join(yours), "".join(generated))
    assert done.returncode == merged.conflicts == 0
    assert merged.text == done.stdout

"""A build reuses unchanged parts of the previous index, and produces the same bytes."""

import random
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from conftest import CONFIG, MakeProject, Project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import snapshot

from foundry.building.corpus import boilerplate
from foundry.building.corpus.input_table import longest_ascent
from foundry.building.documents.cache import DocumentCache
from foundry.building.documents.encoding import StoredDocument
from foundry.documents import Skipped

pytestmark = pytest.mark.usefixtures("stamps_last")

ROWS = '[[sources]]\ntype = "records"\nname = "rows"\npath = "rows.csv"\n'
COUNT = 9
NOTICE = "All of these pages are the property of the pump company, which keeps its rights to them."


@pytest.fixture(autouse=True)
def few_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few documents suffice to detect boilerplate."""
    monkeypatch.setattr(boilerplate, "MIN_DOCUMENTS", 3)


def name_of(number: int) -> str:
    return f"{'deep/' * (number % 2)}page-{number}.md"


def text_of(number: int, variant: int) -> str:
    """A page with links, tags and an alias; some pages also have a common notice."""
    chooser = random.Random(number * 100 + variant)
    words = " ".join(chooser.choices(["seal", "pump", "D40", "Straße", "valve", "日本"], k=12))
    other = chooser.randrange(COUNT)
    front = f"---\ntags: [t{number % 3}, v{variant}]\naliases: [Name {variant}]\n---\n"
    links = f"[a]({'../' * (number % 2)}{name_of(other)}) [[Name {other % 4}]] [[page-{other}]]"
    more = NOTICE if variant % 2 else words
    finding = "Spoken\u200b aloud.\n\n" if variant == 4 else ""
    sections = f"## Part {variant}\n\n{finding}{links}\n\n## Shared heading\n\n{more}"
    return f"{front}# Page {number}, {chooser.choice('xyz')}\n\n{words}\n\n{sections}\n"


def write(project: Project, name: str, content: str) -> None:
    path = project.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def apply(project: Project, edit: tuple[str, int, int]) -> None:
    kind, number, variant = edit
    page = f"sources/{name_of(number)}"
    if kind == "write":
        write(project, page, text_of(number, variant))
    elif kind == "copy":
        write(project, page, text_of(variant, 1))
    elif kind == "empty":
        write(project, page, "")
    elif kind == "remove":
        (project.root / page).unlink(missing_ok=True)
    else:
        rows = [f"{row},Row {row},{'word ' * (row + variant)}" for row in range(number)]
        random.Random(variant).shuffle(rows)
        write(project, "rows.csv", "\n".join(["id,title,text", *rows]) + "\n")


def check(project: Project, rounds: list[list[tuple[str, int, int]]]) -> None:
    """After each round of edits, compare the index with one built without any state."""
    for number in range(COUNT):
        apply(project, ("write", number, number % 4))
    apply(project, ("rows", 4, 0))
    for edits in [[], *rounds]:
        for edit in edits:
            apply(project, edit)
        project.succeed("build", "--quiet", "--jobs", "1")
        fresh = project.without_state(project.root.with_name(f"{project.root.name}-fresh"))
        fresh.succeed("build", "--quiet", "--jobs", "1")
        assert snapshot(project.index) == snapshot(fresh.index)


def test_bytes_after_many_kinds_of_edits(make_project: MakeProject) -> None:
    check(
        make_project({}, config=CONFIG + ROWS),
        [
            [("write", 4, 4)],
            [("remove", 0, 0), ("write", 8, 3)],
            [("copy", 2, 5), ("copy", 7, 5), ("rows", 6, 2)],
            [("remove", 5, 0), ("empty", 3, 0), ("rows", 5, 1)],
            [("write", 0, 1), ("write", 5, 1), ("rows", 0, 0)],
        ],
    )


@pytest.mark.parametrize(
    "extra", ['[embedding]\nprovider = "none"\n', '[build]\nduplicates = "near"\n']
)
def test_bytes_with_other_options(extra: str, make_project: MakeProject) -> None:
    check(
        make_project({}, config=CONFIG + ROWS + extra),
        [[("write", 1, 3), ("copy", 6, 2)], [("remove", 6, 0), ("rows", 3, 3)]],
    )


EDITS = st.tuples(
    st.sampled_from(["write", "write", "copy", "empty", "remove", "rows"]),
    st.integers(0, COUNT - 1),
    st.integers(0, 5),
)


@pytest.mark.slow
@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rounds=st.lists(st.lists(EDITS, max_size=5), min_size=1, max_size=4))
def test_bytes_after_any_edits(
    rounds: list[list[tuple[str, int, int]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = Project(tmp_path_factory.mktemp("edits") / "project")
    write(project, "foundry.toml", CONFIG + ROWS)
    check(project, rounds)


@pytest.fixture
def built(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project in which no document affects another."""
    monkeypatch.setattr(boilerplate, "MIN_DOCUMENTS", COUNT + 1)
    project = make_project({}, config=CONFIG)
    for number in range(COUNT):
        apply(project, ("write", number, 0))
    project.succeed("build", "--quiet")
    return project


def loaded_by_a_build(project: Project, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    """The number of prepared documents that a build takes from the cache."""
    loaded = []
    load = DocumentCache.load

    def counted(cache: DocumentCache, number: int) -> StoredDocument | Skipped:
        loaded.append(number)
        return load(cache, number)

    with monkeypatch.context() as patch:
        patch.setattr(DocumentCache, "load", counted)
        project.succeed("build", "--quiet", *options)
    return len(loaded)


def test_only_changed_documents_are_loaded(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(built, ("write", 4, 2))
    assert loaded_by_a_build(built, monkeypatch) == 1
    apply(built, ("remove", 4, 0))
    assert loaded_by_a_build(built, monkeypatch) == 0
    apply(built, ("write", 4, 2))
    assert loaded_by_a_build(built, monkeypatch, "--fresh") == COUNT


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def test_nothing_is_copied_from_a_damaged_handover_or_index(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variant, name in enumerate(("postings.counts.npy", "inputs.npy", "handover.json", "")):
        handover = built.root / ".foundry" / "handover"
        damage(handover / name if name else built.index / "postings.chunks.npy")
        apply(built, ("write", 4, variant + 1))
        assert loaded_by_a_build(built, monkeypatch) == COUNT, name


@given(st.lists(st.integers(0, 20), max_size=9))
def test_longest_ascent_is_ascending_and_as_long_as_possible(numbers: list[int]) -> None:
    chosen = sorted(longest_ascent(numbers))
    values = [numbers[place] for place in chosen]
    assert values == sorted(set(values))
    assert not any(
        all(first < second for first, second in pairwise(longer))
        for longer in combinations(numbers, len(chosen) + 1)
    )

"""The depth of the sketch pass reaches the minimum recall for each shape of query."""

import json
import re
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from conftest import MakeProject, Project, write_project

from foundry.indexing.dense import calibration
from foundry.indexing.dense.calibration import depth_of, recall_of, spans_of
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.tokens import Tokenizer

pytestmark = pytest.mark.usefixtures("forked_readers")

WORDS = "pump seal valve rotor bearing gasket flange shaft the of and in".split()
COUNTS = {"1 word": {1}, "2 words": {2}, "3 words": {3}, "4 to 6 words": {4, 5, 6}}


def text_of(number: int) -> str:
    chooser = np.random.default_rng(number)
    return f"# Note {number}\n\n" + " ".join(chooser.choice(WORDS, 30)) + f" end{number}.\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Build 400 notes; tests that change them use a copy."""
    notes = {f"{number}.md": text_of(number) for number in range(400)}
    return write_project(tmp_path_factory.mktemp("notes"), notes, built=True)


def spans(project: Project) -> list[tuple[str, str]]:
    found = spans_of(IndexLayout(project.index), Tokenizer("english"))
    return [(query.text, query.shape) for query in found]


def test_spans_are_consecutive_words_of_texts(project: Project) -> None:
    lines = (project.index / "chunks.jsonl").read_text().splitlines()
    texts = "\n".join(" ".join(json.loads(line)["text"].split()) for line in lines)
    found = spans(project)
    assert len(found) == calibration.SPANS
    for text, shape in found:
        assert re.search(rf"(?<!\S){re.escape(text)}(?!\S)", texts), text
        assert len(text.split()) in COUNTS[shape]
        assert Tokenizer("english").terms(text)
    for shape in COUNTS:
        assert sum(own == shape for _, own in found) > calibration.SPANS / 8
    longest = {len(text.split()) for text, shape in found if shape == "4 to 6 words"}
    assert longest == {4, 5, 6}


def test_few_spans_change_with_a_document(project: Project, tmp_path: Path) -> None:
    before = set(spans(project))
    project = Project(copytree(project.root, tmp_path / "copy"))
    (project.root / "sources" / "new.md").write_text(text_of(1000))
    (project.root / "sources" / "7.md").unlink()
    project.succeed("build", "--quiet")
    assert len(before - set(spans(project))) <= 2


def test_stop_words_and_data_are_not_used_as_queries(make_project: MakeProject) -> None:
    project = make_project({"a.md": "the of and", "b.md": "x" * 300, "c.md": "", "d.md": "seal"})
    project.succeed("build", "--quiet")
    assert {text for text, _ in spans(project)} <= {"seal"}


def test_depth_is_enough_for_all_queries_and_for_each_shape() -> None:
    # Of the neighbours of a shape, 98.5 % must be found (197 of 200), of all 99 % (990 of 1,000).
    few = np.arange(1, 201).reshape(20, 10)
    many = np.arange(1, 801).reshape(80, 10)
    both = np.concatenate([10 * few, many])
    shapes = ["1 word"] * 20 + ["heading"] * 80
    assert depth_of(both, shapes) == depth_of(both[::-1], shapes[::-1]) == 1970
    assert recall_of(both, shapes, 1970) == {"1 word": 0.985, "heading": 1.0}
    assert recall_of(both, shapes, 1969) == {"1 word": 0.98, "heading": 1.0}
    assert recall_of(both, shapes, 100) == {"1 word": 0.05, "heading": 0.125}
    both = np.concatenate([few, 10 * many])
    assert depth_of(both, shapes) == 7900  # The ten farthest of 1,000 may be missed.
    assert depth_of(many, shapes[20:]) == 792


def test_depth_is_that_of_the_only_query() -> None:
    assert depth_of(np.array([[3, 40]]), ["heading"]) == 40


def test_manifest_and_inspect_show_recall_by_shape(project: Project) -> None:
    dense = json.loads((project.index / "manifest.json").read_text())["dense"]
    told = dense["recall_at_20"]
    assert set(told) == {"heading", *COUNTS}
    assert all(0.985 <= share <= 1 for share in told.values())
    said = project.succeed("inspect").output
    every = ", ".join(f"{shape} {told[shape]:.3f}" for shape in sorted(told))
    assert f"recall@20 of {dense['candidates']:,} candidates: {every}\n" in said


def test_a_single_chunk_is_always_found(make_project: MakeProject) -> None:
    project = make_project({"a.md": "the"})
    project.succeed("build", "--quiet")
    said = project.succeed("inspect").output
    assert "recall@20 of 200 candidates: heading 1.000\n" in said

"""What a server reads of questions, and what it compares; its command is tried on an export."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from foundry.runtime import evaluation
from foundry.runtime.errors import ConfigurationError
from foundry.runtime.evaluation import compare, describe, judge_hits, read_questions
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.results import SearchResponse


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_questions_are_lines_of_json(tmp_path: Path) -> None:
    lines = (
        '\ufeff{"query": "a", "relevant": ["x.md", "y.md"], "first": true}\n\n'
        '{"query": "b\u2028", "relevant": {"x.md": 2, "y.md": 0}}\r\n'
    )
    assert read_questions(write(tmp_path / "q.jsonl", lines)) == [
        ("a", {"x.md": 1.0, "y.md": 1.0}),
        ("b\u2028", {"x.md": 2.0, "y.md": 0.0}),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "7",
        '{"query": "a"}',
        '{"query": 7, "relevant": ["x"]}',
        '{"query": "a \\ud800", "relevant": ["x"]}',
        '{"query": "a", "relevant": []}',
        '{"query": "a", "relevant": 7}',
        '{"query": "a", "relevant": {"x": "high"}}',
        '{"query": "a", "relevant": {"x": 0}}',
        "[" * 100_000,
    ],
)
def test_line_that_is_no_question_is_named(line: str, tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", f'{{"query": "a", "relevant": ["x"]}}\n{line}\n')
    with pytest.raises(ConfigurationError, match=r"q\.jsonl, line 2: ") as caught:
        read_questions(file)
    assert "--questions" in str(caught.value.hint)


def test_file_without_questions_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.jsonl: .*No such file"):
        read_questions(tmp_path / "none.jsonl")
    with pytest.raises(ConfigurationError, match="holds no question"):
        read_questions(write(tmp_path / "q.jsonl", "\n"))
    (tmp_path / "q.jsonl").write_text(f'{{"query": "{"a" * 999}"}}', encoding="utf-16")
    # The reason, and not the whole file, which Python keeps with the error.
    with pytest.raises(ConfigurationError, match=r"q\.jsonl.{,150}$"):
        read_questions(tmp_path / "q.jsonl")


def record(document: str, copies: tuple[str, ...] = (), duplicates: tuple[str, ...] = ()) -> Any:
    """What a hit, and the chunk of a near-duplicate, say about their document."""
    places = [SimpleNamespace(document_id=f"id of {copy}", path=copy) for copy in copies]
    return SimpleNamespace(
        document_id=f"id of {document}", path=document, also_at=places, near_duplicates=duplicates
    )


@pytest.mark.parametrize(
    ("relevant", "rank"),
    [
        ({"a.md": 1}, 1),
        ({"id of a.md": 1}, 1),
        ({"copy of b.md": 1}, 2),
        ({"id of copy of b.md": 1}, 2),
        # A hit counts for the documents of the hits that it stands for.
        ({"c.md": 1}, 3),
        ({"a chunk of d.md": 1}, 4),
        ({"nowhere.md": 1}, None),
        ({"a.md": 0, "c.md": 1}, 3),
    ],
)
def test_a_question_names_documents_by_id_path_or_chunk(
    relevant: dict[str, float], rank: int | None
) -> None:
    chunks = {"a chunk of c.md": record("c.md"), "a chunk of d.md": record("d.md")}
    hits = [
        record("a.md"),
        record("a.md"),
        record("b.md", ("copy of b.md",), ("a chunk of c.md",)),
        record("d.md"),
    ]
    index = cast(Index, SimpleNamespace(find_chunk=chunks.get))
    response = cast(SearchResponse, SimpleNamespace(hits=hits, degraded=True))
    metrics = judge_hits(index, response, relevant)
    assert metrics["MRR@10"] == (1 / rank if rank else 0)
    assert metrics["hit@3"] == float(rank is not None and rank <= 3)
    assert metrics["degraded"] == 1


NOW: dict[str, Any] = {
    "questions_sha256": "q",
    "index_version": "v",
    "questions": 2,
    "documents": 1,
    "chunks": 1,
    "metrics": {"hybrid": {"nDCG@10": 0.5, "hit@1": 0.4, "degraded": 0.5}},
}


@pytest.mark.parametrize(
    ("changes", "said", "failures"),
    [
        ({}, "compared with the recorded", ["nDCG@10 of hybrid fell from 0.5200 to 0.5000"]),
        ({"questions_sha256": "p"}, "of other questions", []),
        ({"index_version": "w"}, "of another index", []),
    ],
)
def test_means_are_compared_with_those_recorded(
    changes: dict[str, Any],
    said: str,
    failures: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "figures.json"
    monkeypatch.setattr(evaluation, "FIGURES", file)
    assert compare(NOW, 0.01)[0].startswith("no figures were recorded")
    before = {"hybrid": {"nDCG@10": 0.52, "hit@1": 0.41, "gone": 1}, "semantic": {"hit@1": 1}}
    write(file, json.dumps({**NOW, "metrics": before, **changes}))
    verdict, found = compare(NOW, 0.010001)
    assert said in verdict
    assert found == failures
    assert compare(NOW, 0.03)[1] == []
    write(file, "{}")
    with pytest.raises(ConfigurationError, match=r"figures\.json: unusable"):
        compare(NOW, 0.01)


def test_report_has_a_line_for_each_mode_and_failure() -> None:
    assert describe({**NOW, "recorded": "compared", "failures": ["hit@1 fell"]}).splitlines() == [
        "2 questions, 1 document, 1 chunk",
        "hybrid    nDCG@10 0.5000  hit@1 0.4000  degraded 0.5000",
        "compared",
        "FAILED: hit@1 fell",
    ]

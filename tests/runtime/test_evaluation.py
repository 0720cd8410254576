"""What a server reads of questions, and what it compares; its command is tried on an export."""

import json
from pathlib import Path
from typing import Any

import pytest

from foundry.runtime import evaluation
from foundry.runtime.evaluation import METRICS, Question, compare, describe, read_questions
from foundry.runtime.index.errors import ConfigurationError


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_questions_are_lines_of_json(tmp_path: Path) -> None:
    lines = (
        '\ufeff{"query": "a", "relevant": ["x.md", "y.md"], "first": true}\n\n'
        '{"query": "b\u2028", "relevant": {"x.md": 2, "y.md": 0}}\r\n'
    )
    assert read_questions(write(tmp_path / "q.jsonl", lines)) == [
        Question("a", {"x.md": 1.0, "y.md": 1.0}),
        Question("b\u2028", {"x.md": 2.0, "y.md": 0.0}),
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
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_questions(tmp_path / "none.jsonl")
    with pytest.raises(ConfigurationError, match="holds no question"):
        read_questions(write(tmp_path / "q.jsonl", "\n"))


NOW: dict[str, Any] = {
    "questions_sha256": "q",
    "corpus": "c",
    "questions": 2,
    "documents": 1,
    "chunks": 1,
    "metrics": {"hybrid": {**dict.fromkeys(METRICS, 0.4), "nDCG@10": 0.5}},
    "latency_ms": {"hybrid": {"median": 1.25, "p95": 2.0}},
    "degraded": {"hybrid": 1},
    "missing": ["gone.md"],
}


@pytest.mark.parametrize(
    ("changes", "any_corpus", "said", "failures"),
    [
        ({}, False, "compared with the recorded", ["nDCG@10 of hybrid fell from 0.5200 to 0.5000"]),
        ({"questions_sha256": "p"}, True, "of other questions", []),
        ({"corpus": "d"}, False, "of another corpus", []),
        ({"corpus": "d"}, True, "compared with the recorded", 1),
    ],
)
def test_means_are_compared_with_those_recorded(
    changes: dict[str, Any],
    any_corpus: bool,
    said: str,
    failures: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "figures.json"
    monkeypatch.setattr(evaluation, "FIGURES", file)
    assert compare(NOW, 0.01, any_corpus=any_corpus)[0].startswith("no figures were recorded")
    before = {"hybrid": {"nDCG@10": 0.52, "hit@1": 0.41, "gone": 1}, "semantic": {"hit@1": 1}}
    write(file, json.dumps({**NOW, "metrics": before, **changes}))
    verdict, found = compare(NOW, 0.010001, any_corpus=any_corpus)
    assert said in verdict
    assert found == failures or len(found) == failures
    assert compare(NOW, 0.03, any_corpus=any_corpus)[1] == []
    write(file, "{}")
    with pytest.raises(ConfigurationError, match=r"figures\.json: unusable"):
        compare(NOW, 0.01, any_corpus=any_corpus)


def test_report_names_what_is_missing_and_what_failed() -> None:
    said = describe({**NOW, "recorded": "compared", "failures": ["hit@1 fell"]}).splitlines()
    assert said[0] == "2 questions, 1 documents, 1 chunks"
    assert said[-4:] == [
        "compared",
        "1 relevant names are not in the index, such as 'gone.md'",
        "1 questions were answered by keywords although hybrid was asked for",
        "FAILED: hit@1 fell",
    ]

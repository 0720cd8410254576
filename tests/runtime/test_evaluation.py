"""The files that a server's `eval` reads and compares; exports test the command itself."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.evaluation import command
from foundry.runtime.evaluation.command import compare, describe, read_questions
from foundry.runtime.evaluation.metrics import METRICS


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_file_without_questions_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.jsonl: .*No such file"):
        read_questions(tmp_path / "none.jsonl")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="is a named pipe, not a file"):
        read_questions(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="contains no questions"):
        read_questions(write(tmp_path / "q.jsonl", "\n"))
    (tmp_path / "q.jsonl").write_text(f'{{"query": "{"a" * 999}"}}', encoding="utf-16")
    # The message must not quote the file, which the exception contains.
    with pytest.raises(ConfigurationError, match=r"q\.jsonl.{,150}$"):
        read_questions(tmp_path / "q.jsonl")


NOW: dict[str, Any] = {
    "questions_sha256": "q",
    "index_version": "v",
    "questions": 2,
    "documents": 1,
    "chunks": 1,
    "skipped": {"empty": 0, "too_long": 0},
    "missing": [],
    "metrics": {"hybrid": dict.fromkeys(METRICS, 0.5) | {"hit@1": 0.4}},
    "degraded": {"hybrid": 0},
}
BEFORE = {"hybrid": {"nDCG@10": 0.52, "hit@1": 0.41, "gone": 1}, "semantic": {"hit@1": 1}}


@pytest.mark.parametrize(
    ("changes", "said", "failures"),
    [
        ({}, "compared with the recorded figures: hybrid", ["nDCG@10 of hybrid fell from 0.5200"]),
        ({"questions_sha256": "p"}, "not compared: .* for other questions", []),
        ({"index_version": "w"}, "not compared: .* for another index", []),
        ({"metrics": {"keyword": {"hit@1": 1}}}, "not compared: .* for other modes", []),
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
    monkeypatch.setattr(command, "FIGURES", file)
    assert compare(NOW, 0.01)[0].startswith("not compared: no figures were recorded")
    write(file, json.dumps({**NOW, "metrics": BEFORE, **changes}))
    # A hit@1 that is lower by 0.01 is within a tolerance of 0.01, despite rounding.
    verdict, found = compare(NOW, 0.01)
    assert re.fullmatch(said + ".*", verdict)
    assert [failure.partition(" to ")[0] for failure in found] == failures
    assert compare(NOW, 0.02)[1] == []
    write(file, "{}")
    with pytest.raises(ConfigurationError, match=r"figures\.json: unusable"):
        compare(NOW, 0.01)


def test_report_has_a_line_for_each_mode_and_note() -> None:
    told = {
        "degraded": {"hybrid": 1},
        "skipped": {"empty": 2, "too_long": 0},
        "missing": ["x.md"],
        "recorded": "compared",
        "failures": ["hit@1 fell"],
    }
    assert describe({**NOW, **told}).splitlines() == [
        "2 questions, 1 document, 1 chunk",
        "          nDCG@10  recall@5  recall@10  recall@100  MRR@10   hit@1   hit@3   hit@5"
        "  R-precision",
        "hybrid     0.5000    0.5000     0.5000      0.5000  0.5000  0.4000  0.5000  0.5000"
        "       0.5000",
        "1 response in mode hybrid used keywords only",
        "2 queries cannot be asked: 2 empty",
        "1 relevant name cannot be found in the index: 'x.md'",
        "compared",
        "FAILED: hit@1 fell",
    ]

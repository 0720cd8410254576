"""Reading questions: valid ones, and rejections that name the place."""

import json
from pathlib import Path

import pytest

from foundry.errors import FoundryError, RequestError
from foundry.evaluation.questions import askable_lines, read_beir, read_questions
from foundry.runtime.errors import ConfigurationError
from foundry.runtime.evaluation.questions import Question, describe_skipped


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_lines(tmp_path: Path) -> None:
    file = write(
        tmp_path / "q.jsonl",
        '{"query": "a", "relevant": ["x.md", "y.md"], "first": true, "note": "for others"}\n\n'
        '{"query": "b\u2028", "relevant": {"x.md": 2, "y.md": 0}}\r\n',
    )
    read = read_questions(file)
    assert read.kind == "questions"
    assert read.questions == (
        Question("a", {"x.md": 1.0, "y.md": 1.0}),
        Question("b\u2028", {"x.md": 2.0, "y.md": 0.0}),
    )
    assert askable_lines(file) == b"".join(
        line.rstrip(b"\r") + b"\n" for line in file.read_bytes().split(b"\n") if line.strip()
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "Expecting"),
        ("[]", "not an object"),
        ('{"relevant": ["x"]}', "query"),
        ('{"query": 7, "relevant": ["x"]}', "query must be a string"),
        ('{"query": "", "relevant": []}', "at least one"),
        ('{"query": "a \\ud800", "relevant": ["x"]}', "query"),
        ('{"query": "a"}', "relevant"),
        ('{"query": "a", "relevant": []}', "at least one"),
        ('{"query": "a", "relevant": {"x": 0}}', "at least one"),
        ('{"query": "a", "relevant": [1]}', "non-empty strings"),
        ('{"query": "a", "relevant": ["\\udc00"]}', "non-empty strings"),
        ('{"query": "a", "relevant": {"x": "high"}}', "number"),
        ('{"query": "a", "relevant": {"x": NaN}}', "number"),
        ('{"query": "a", "relevant": {"x": true}}', "number"),
        ('{"query": "a", "relevant": ["x"], "kind": "other"}', "kind"),
        ("[" * 100_000, "line 2: maximum recursion depth"),
    ],
)
def test_bad_line_is_named(line: str, problem: str, tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", f'{{"query": "a", "relevant": ["x"]}}\n{line}\n')
    with pytest.raises(ConfigurationError, match=problem) as caught:
        read_questions(file)
    assert "line 2" in str(caught.value)


def test_invalid_queries_are_counted(tmp_path: Path) -> None:
    queries = ["a" * 2000, "a" * 2001, "", " \n"]
    lines = [json.dumps({"query": query, "relevant": ["x"]}) for query in queries]
    read = read_questions(write(tmp_path / "q.jsonl", "\n".join(lines)))
    assert [len(question.query) for question in read.questions] == [2000]
    assert read.skipped == {"empty": 2, "too_long": 1}
    assert askable_lines(tmp_path / "q.jsonl").decode() == lines[0] + "\n"
    said = "3 queries cannot be asked: 2 empty, 1 over 2,000 characters"
    assert describe_skipped(read.skipped) == said
    assert describe_skipped({"empty": 1}) == "1 query cannot be asked: 1 empty"
    with pytest.raises(ConfigurationError, match=f"contains no questions .{said}"):
        read_questions(write(tmp_path / "q.jsonl", "\n".join(lines[1:])))


def test_invalid_queries_are_counted_in_beir(tmp_path: Path) -> None:
    texts = {"q1": "one", "q2": "", "q3": "a" * 2001, "q4": "never judged"}
    lines = [json.dumps({"_id": name, "text": text}) for name, text in texts.items()]
    queries = write(tmp_path / "queries.jsonl", "\n".join(lines))
    judged = read_beir(queries, write(tmp_path / "qrels.tsv", "q1\td1\t1\nq2\td1\t1\n"))
    assert [question.query for question in judged.questions] == ["one"]
    assert judged.skipped == {"empty": 1, "too_long": 1}
    assert judged.unjudged == 1
    with pytest.raises(FoundryError, match=r"no document is relevant .*1 empty"):
        read_beir(queries, write(tmp_path / "qrels.tsv", "q2\td1\t1\n"))


def test_mixed_empty_and_missing_files_are_refused(tmp_path: Path) -> None:
    lines = (
        '{"query": "a", "relevant": ["x"]}\n{"query": "a", "relevant": ["x"], "kind": "known-item"}'
    )
    with pytest.raises(ConfigurationError, match="known-item queries"):
        read_questions(write(tmp_path / "q.jsonl", lines))
    with pytest.raises(ConfigurationError, match="no question"):
        read_questions(write(tmp_path / "q.jsonl", "\n"))
    with pytest.raises(RequestError, match="cannot be read"):
        read_questions(tmp_path / "none.jsonl")


QUERIES = '{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "two", "metadata": {}}\n'


def test_beir(tmp_path: Path) -> None:
    queries = write(tmp_path / "queries.jsonl", QUERIES)
    judgements = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td1\t1\nq1\td2\t0\nq2\td1\t0\n"
    judged = read_beir(queries, write(tmp_path / "qrels.tsv", judgements))
    assert judged.questions == (Question("one", {"d1": 2.0, "d2": 0.0}),)
    assert judged.unjudged == 1


@pytest.mark.parametrize(
    ("queries", "judgements", "problem"),
    [
        (QUERIES, "query-id\tcorpus-id\tscore\n", "no document is relevant"),
        (QUERIES, "q1\td1\t1\nq1\td1\thigh\n", "line 2"),
        (QUERIES, "q1\td1\t1\nq1\td1\tinf\n", "line 2"),
        (QUERIES, "q1\td1\t1\nq1\td1\tnan\n", "line 2"),
        (QUERIES, "q1 d1 1\n", "line 1"),
        (QUERIES, "q9\td1\t1\n", "line 1: no query in .* has this id"),
        ('{"_id": "q1"}\n', "q1\td1\t1\n", "line 1: not a query"),
        ('{"_id": 1, "text": "a"}\n', "1\td1\t1\n", "must be strings"),
        ('{"_id": "1", "text": "\\ud800"}\n', "1\td1\t1\n", "must be strings"),
        (QUERIES + QUERIES, "q1\td1\t1\n", "line 3: duplicate _id"),
        ("not json\n", "q1\td1\t1\n", "line 1"),
    ],
)
def test_bad_beir(queries: str, judgements: str, problem: str, tmp_path: Path) -> None:
    files = write(tmp_path / "q.jsonl", queries), write(tmp_path / "q.tsv", judgements)
    with pytest.raises(FoundryError, match=problem) as caught:
        read_beir(*files)
    assert caught.value.hint

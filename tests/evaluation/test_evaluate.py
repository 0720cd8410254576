"""`foundry eval` and the server's own `eval`, through their public interfaces."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import CONFIG, MakeProject, Project, write_project
from evaluations import ask_export
from servers import run_tests

from foundry.evaluation.known_items import make_known_items
from foundry.indexing.versions import open_index
from foundry.progress import Lines
from foundry.runtime.evaluation.metrics import METRICS

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FILES = {
    "pump.md": "# Pump\n\nThe pump moves water. Replace its seal every year.\n",
    "valve.md": "# Valve\n\nA valve stops the flow. Close it before work on the pump.\n",
    "filter.md": "# Filter\n\nThe filter cleans water. Error code FLT-2024-17 means it is full.\n",
    "motor.md": "# Motor\n\nThe motor turns the shaft. It needs 400 volts.\n",
}
QUESTIONS = [
    {"query": "what has to be replaced every year", "relevant": ["pump.md"]},
    {"query": "FLT-2024-17", "relevant": ["filter.md"]},
    {"query": "what stops the flow", "relevant": {"valve.md": 2, "pump.md": 1}},
    {"query": "voltage of the motor", "relevant": ["motor.md"]},
    {"query": "is there a compressor", "relevant": ["compressor.md"]},
]


def write_questions(project: Project, questions: list[dict[str, Any]]) -> Path:
    file = project.root / "questions.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in questions))
    return file


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A built project with questions and rendered servers, and its export; not to be changed."""
    root = tmp_path_factory.mktemp("evaluation") / "project"
    project = write_project(root, FILES, built=True)
    write_questions(project, QUESTIONS)
    (root / "report.json").write_text(project.succeed("eval", "--quiet", "--json").stdout)
    project.export()
    return project


@pytest.fixture
def built(prepared: Project, tmp_path: Path) -> Project:
    """A copy to change."""
    return prepared.copy(tmp_path / "project")


@pytest.fixture
def report(prepared: Project) -> dict[str, Any]:
    """The first output of `foundry eval --json`."""
    values = json.loads((prepared.root / "report.json").read_bytes())
    assert isinstance(values, dict)
    return values


@pytest.fixture
def export(built: Project) -> Path:
    """A copy of the export to change."""
    return built.root / "dist" / "notes"


def evaluate(project: Project, *arguments: str) -> dict[str, Any]:
    result = project.succeed("eval", "--quiet", "--json", *arguments)
    report = json.loads(result.stdout)
    assert isinstance(report, dict)
    return report


def test_json_has_every_system_and_is_reproducible(
    prepared: Project, report: dict[str, Any]
) -> None:
    first = report
    assert {**evaluate(prepared), "latency_ms": first["latency_ms"]} == first
    assert first["kind"] == "questions"
    assert (first["questions"], first["documents"], first["chunks"]) == (5, 4, 4)
    assert set(first["metrics"]) == {"hybrid", "linear", "rrf", "semantic", "keyword"}
    assert all(set(means) == set(METRICS) for means in first["metrics"].values())
    assert first["metrics"]["linear"] == first["metrics"]["hybrid"]
    assert first["missing"] == ["compressor.md"]
    # A nonexistent document cannot be found: at best four of five.
    assert max(means["hit@5"] for means in first["metrics"].values()) == 0.8
    identifier = first["per_question"][1]
    assert (identifier["mode"], identifier["reason"]) == ("keyword", "identifier")
    assert identifier["values"]["hybrid"]["nDCG@10"] == 1


def test_evaluation_measures_the_results_of_foundry_query(
    prepared: Project, report: dict[str, Any]
) -> None:
    for question, measured in list(zip(QUESTIONS, report["per_question"], strict=True))[1:4]:
        paths = [hit["path"] for hit in prepared.ask(str(question["query"]))["results"]]
        first = paths[0] in question["relevant"]
        assert measured["values"]["hybrid"]["hit@1"] == float(first), question


def test_sweep_includes_the_configured_weight(report: dict[str, Any]) -> None:
    swept = {entry["semantic_weight"]: entry["metrics"] for entry in report["weights"]}
    assert sorted(swept) == [step / 10 for step in range(11)]
    assert swept[0.7] == report["metrics"]["hybrid"]


def test_weights_in_the_environment_are_ignored(
    prepared: Project, report: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMANTIC_WEIGHT", "0")
    assert evaluate(prepared)["metrics"] == report["metrics"]


@pytest.mark.slow
def test_invalid_queries_are_left_out_and_counted(make_project: MakeProject) -> None:
    queries = ["How is a seal replaced?", "seal " * 401, " "]
    lines = [json.dumps({"query": query, "relevant": ["seals.md"]}) for query in queries]
    note = "# Seals\n\nA seal is replaced yearly.\n"
    project = make_project({"seals.md": note, "./questions.jsonl": "\n".join(lines)})
    project.succeed("build", "--quiet")
    report = evaluate(project)
    assert (report["questions"], report["skipped"]) == (1, {"empty": 1, "too_long": 1})
    said = "2 queries cannot be asked: 1 empty, 1 over 2,000 characters"
    assert said in project.succeed("eval", "--quiet").stdout
    export = project.export()
    assert (export / "notes" / "questions.jsonl").read_text() == lines[0] + "\n"
    assert json.loads(ask_export(export, "--json").stdout)["questions"] == 1
    own = ("--questions", str(project.root / "questions.jsonl"))
    asked = json.loads(ask_export(export, "--json", *own).stdout)
    assert (asked["questions"], asked["skipped"]) == (1, report["skipped"])
    assert said in ask_export(export, *own).stdout
    assert "1 passed" in run_tests(export, "test_search.py", "-k", "question")


def test_limits_and_baseline(built: Project) -> None:
    baseline = built.root / "report.json"
    same = ["eval", "--quiet", "--baseline", str(baseline), "--tolerance", "0"]
    failed = built.run(*same, "--min", "hit@5=0.81", "--min", "hit@1=0")
    assert failed.exit_code == 1
    assert "since the baseline" in failed.stdout
    assert "tolerance" not in failed.stderr
    assert "hit@5 is 0.8000, below the minimum of 0.81" in failed.stderr
    (built.root / "sources" / "motor.md").unlink()
    built.succeed("build", "--quiet")
    worse = built.run("eval", "--quiet", "--baseline", str(baseline))
    assert worse.exit_code == 1
    assert "more than the tolerance of 0.01" in worse.stderr
    assert "within noise" in worse.stderr
    unknown = built.run("eval", "--min", "precision=0.5")
    assert unknown.exit_code == 2
    assert "nDCG@10" in unknown.stderr


def test_progress_counts_every_search(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lines, "interval_seconds", 0)
    for option, total in (("--json", 5 * (3 * 2 + 11) + 5 * 2), ("--tune", None)):
        write_questions(built, QUESTIONS * (1 if total else 2))
        said = re.findall(r"Evaluating: (\d+) of (\d+) searches", built.run("eval", option).stderr)
        done, totals = [int(each[0]) for each in said], {int(each[1]) for each in said}
        assert done[0] == 1 and done[-1] in totals and len(totals) == 1
        assert total is None or totals == {total}


def test_report_is_written_to_the_given_path(prepared: Project, tmp_path: Path) -> None:
    assert (prepared.root / ".foundry" / "eval.html").is_file()
    file = tmp_path / "new" / "report.html"
    assert str(file) in prepared.succeed("eval", "--quiet", "--report", str(file)).stdout
    text = file.read_text(encoding="utf-8")
    assert "is there a compressor" in text
    assert "not in the index" in text


def test_beir_files(prepared: Project, tmp_path: Path) -> None:
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    queries.write_text('{"_id": "1", "text": "the seal"}\n{"_id": "2", "text": "unjudged"}\n')
    qrels.write_text("query-id\tcorpus-id\tscore\n1\tpump.md\t1\n")
    report = evaluate(prepared, "--queries", str(queries), "--qrels", str(qrels))
    assert (report["questions"], report["unjudged"]) == (1, 1)
    assert report["metrics"]["hybrid"]["hit@1"] == 1
    alone = prepared.run("eval", "--queries", str(queries))
    assert alone.exit_code == 2
    assert "--qrels" in alone.stderr


def test_known_item_evaluations_are_labelled_in_every_output(built: Project) -> None:
    real = built.root / "report.json"
    (built.root / "questions.jsonl").unlink()
    report = evaluate(built)
    assert report["kind"] == "known-item"
    queries = [question["query"] for question in report["per_question"]]
    assert {"Pump", "FLT-2024-17"} <= set(queries)
    assert report["metrics"]["keyword"]["hit@1"] == 1
    mixed = built.run("eval", "--quiet", "--baseline", str(real))
    assert mixed.exit_code == 1
    assert "a different kind" in mixed.stderr
    index = open_index(built.index)
    again = [make_known_items(index) for _ in range(2)]
    assert again[0] == again[1]
    assert [question.query for question in again[0].questions] == queries
    assert "known-item queries" in (built.root / ".foundry" / "eval.html").read_text()


def test_keyword_search_alone_is_one_system_without_tuning(make_project: MakeProject) -> None:
    project = make_project(FILES, config=CONFIG + '[embedding]\nprovider = "none"\n')
    project.succeed("build", "--quiet")
    write_questions(project, QUESTIONS)
    report = evaluate(project)
    assert set(report["metrics"]) == {"hybrid"}
    assert report["weights"] == []
    refused = project.run("eval", "--tune")
    assert refused.exit_code == 1
    assert "nothing to tune" in refused.stderr
    export = project.export()
    asked = json.loads(ask_export(export, "--json").stdout)
    assert asked["metrics"] == {"keyword": report["metrics"]["hybrid"]}
    assert asked["missing"] == report["missing"] == ["compressor.md"]
    impossible = ask_export(export, "--mode", "hybrid")
    assert impossible.returncode == 2
    assert "supports only keyword search" in impossible.stderr


@pytest.mark.slow
def test_tuning_prints_settings_without_writing_them(built: Project) -> None:
    write_questions(built, QUESTIONS * 3)
    before = (built.root / "foundry.toml").read_bytes()
    report = evaluate(built, "--tune")
    tuning = report["tuning"]
    assert tuning["candidates"] == 1 + 2 * 21
    assert len(tuning["chosen"]) == 5
    assert tuning["best"]["fusion"] in {"linear", "rrf"}
    assert (built.root / "foundry.toml").read_bytes() == before
    few = write_questions(built, QUESTIONS)
    assert "too few questions" in built.run("eval", "--tune", "--questions", str(few)).stderr


def test_bad_questions_are_named(built: Project) -> None:
    write_questions(built, [{"query": "a"}])
    for command in ("eval", "export"):
        refused = built.run(command)
        assert refused.exit_code == 2
        assert "questions.jsonl, line 1" in refused.stderr


def test_export_compares_itself_with_its_recorded_figures(
    export: Path, report: dict[str, Any]
) -> None:
    figures = json.loads((export / "notes" / "figures.json").read_bytes())
    assert {"nDCG@10", "MRR@10"} < figures["metrics"]["hybrid"].keys()
    recorded = figures["metrics"]["hybrid"]
    assert recorded == report["metrics"]["hybrid"]
    done = ask_export(export)
    assert done.returncode == 0, done.stderr
    assert "compared with the recorded figures" in done.stdout
    figures["metrics"]["hybrid"]["nDCG@10"] += 0.02
    (export / "notes" / "figures.json").write_text(json.dumps(figures))
    dropped = ask_export(export)
    assert dropped.returncode == 1
    assert "FAILED: nDCG@10 of hybrid fell from" in dropped.stdout
    assert ask_export(export, "--tolerance", "0.05").returncode == 0
    kept = ("--tolerance", "0.05", "--min", "hit@5=0.8")
    assert ask_export(export, *kept).returncode == 0
    missed = ask_export(export, *kept, "--min", "MRR@10=0.9")
    assert missed.returncode == 1
    assert "FAILED: MRR@10 is 0.8000, below the minimum of 0.9" in missed.stdout


def test_export_says_when_there_is_nothing_to_compare(
    built: Project, export: Path, tmp_path: Path
) -> None:
    file = export / "notes" / "figures.json"
    (built.root / "sources" / "new.md").write_text("# Compressor\n\nIt is new.\n")
    built.succeed("build", "--quiet")
    other = str(built.root / ".foundry" / "index")
    done = ask_export(export, INDEX_DIR=other)
    assert done.returncode == 0
    assert "another index" in done.stdout
    questions = tmp_path / "mine.jsonl"
    questions.write_text(json.dumps(QUESTIONS[0]) + "\n")
    assert "other questions" in ask_export(export, "--questions", str(questions)).stdout
    file.unlink()
    assert "no figures were recorded" in ask_export(export).stdout


@pytest.mark.slow
def test_export_without_questions_has_no_command_for_them(built: Project) -> None:
    (built.root / "questions.jsonl").unlink()
    export = built.export("--output", str(built.root / "dist" / "other"))
    for name in ("figures.json", "evaluation"):
        assert not (export / "notes" / name).exists()
    assert "notes eval" not in (export / "README.md").read_text(encoding="utf-8")
    refused = ask_export(export)
    assert refused.returncode == 2
    assert "invalid choice: 'eval'" in refused.stderr


def test_invalid_options_of_the_servers_eval(prepared: Project) -> None:
    for option, values in {
        "--tolerance": ("x", "nan", "-0.1"),
        "--mode": ("x",),
        "--questions": ("none.jsonl",),
        "--min": ("hit@2=0.5", "hit@1=nan"),
    }.items():
        for value in values:
            done = ask_export(prepared.root / "dist" / "notes", option, value)
            assert done.returncode == 2, (option, value)
            assert "Traceback" not in done.stderr
            assert "_tolerance" not in done.stderr


def test_explain_agrees_with_json(prepared: Project) -> None:
    query = "which seal does the pump need"
    results = prepared.ask(query)["results"]
    heading, *paragraphs = prepared.succeed("query", query, "--explain").stdout.split("\n\n")
    assert heading == "mode hybrid, reason default, match strong"
    for paragraph, hit in zip(paragraphs, results, strict=True):
        explained = paragraph.splitlines()[2].strip().split(", ")
        for name, said in zip(("semantic", "keyword"), explained, strict=True):
            value, place = hit["scores"][name], hit["ranks"][name]
            score = "-" if value is None else f"{value:.4f}"
            assert said == f"{name} {score}" + (f" (rank {place})" if place else "")
        assert hit["path"] in paragraph
    identifier = prepared.succeed("query", "FLT-2024-17", "--explain").stdout
    assert identifier.startswith("mode keyword, reason identifier")
    assert prepared.run("query", query, "--explain", "--json").exit_code == 2

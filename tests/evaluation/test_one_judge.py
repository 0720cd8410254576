"""`foundry eval` and an export's `eval` judge documents, each by the highest of its grades."""

import json
import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import Project
from evaluations import ask_export, ask_trec_eval

from foundry.indexing.versions import open_index
from foundry.runtime.evaluation.metrics import METRICS

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

CONFIG = """
[project]
name = "notes"

[chunking]
max_chars = 200

[search.near_duplicates]
similarity = 0.8

[[sources]]
type = "folder"
name = "inside"
path = "inside"

[[sources]]
type = "folder"
name = "outside"
path = "outside"
"""
SEAL = "The seal keeps oil in the housing of the pump, and lasts for eight thousand hours of work."
PUMP = f"""# Pump

{SEAL} It is checked in each shift by whoever starts the pump, before the first load comes in.

## Bearings

The bearings of the pump are greased once in a week, and are replaced together with the shaft.

## Motor

The motor of the pump takes four hundred volts, and is stopped by the red switch at the door.
"""
FILES = {
    "inside/pump.md": PUMP,
    "inside/guide.md": "# Guide\n\nVisitors are met at the gate and get helmets there.\n",
    "outside/guide.md": "# Guide\n\nAt the gate, visitors leave matches and cigarettes.\n",
    # Two files with the same bytes are one document.
    "inside/valve.md": "# Valve\n\nA valve stops the flow of water before work on a pipe begins.\n",
    "outside/copy of valve.md": (
        "# Valve\n\nA valve stops the flow of water before work on a pipe begins.\n"
    ),
    # These files have almost the same words, so one hit represents both.
    "inside/oil.md": f"# Oil\n\n{SEAL} Oil is drained into the tank of the workshop each May.\n",
    "outside/oil.md": f"# Oil\n\n{SEAL} Oil is drained into the tank of the workshop in May.\n",
    "outside/dust.md": "# Dust\n\nWater is sprayed on the face against dust while coal is cut.\n",
}
QUERIES = (
    "how long does the seal last",
    "which voltage does the motor take",
    "what do visitors get at the gate",
    "how is the flow stopped",
    "where is oil drained",
    "dust at the face",
)
UNKNOWN = ("absent.md", "inside/pump.md", "0123456789abcdef")
"""Names that no document has: paths begin below the folder of their source."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("judged")
    (root / "foundry.toml").write_text(CONFIG)
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    project = Project(root)
    write(root / "questions.jsonl", [(QUERIES[0], ["pump.md"])])
    project.succeed("build", "--quiet")
    project.export()
    return project


@pytest.fixture(scope="module")
def documents(project: Project) -> dict[str, set[str]]:
    """Return the names of each document by id, according to its chunks."""
    names: dict[str, set[str]] = {}
    index = open_index(project.index)
    for chunk in map(index.chunk, range(index.chunk_count)):
        own = names.setdefault(chunk.document_id, {chunk.document_id})
        own |= {chunk.id, chunk.path}
        for place in chunk.also_at:
            own |= {place.document_id, place.path}
    return names


Asked = list[tuple[str, Mapping[str, float] | list[str]]]


def write(file: Path, asked: Asked) -> Path:
    lines = [json.dumps({"query": query, "relevant": relevant}) for query, relevant in asked]
    file.write_text("\n".join(lines))
    return file


def judge(project: Project, file: Path) -> dict[str, Any]:
    """Evaluate with both commands; everything that both report must be equal."""
    ours = json.loads(project.succeed("eval", "--quiet", "--json", "--questions", str(file)).stdout)
    done = ask_export(project.root / "dist" / "notes", "--json", "--questions", str(file))
    theirs = json.loads(done.stdout)
    assert set(theirs["metrics"]) == {"hybrid", "semantic", "keyword"}
    for mode, means in theirs["metrics"].items():
        assert means == ours["metrics"][mode]
        assert theirs["degraded"][mode] == ours["degraded"][mode]
    shared = ("questions", "documents", "chunks", "missing", "skipped", "questions_sha256")
    assert {name: theirs[name] for name in shared} == {name: ours[name] for name in shared}
    return dict(ours)


def chunks_of(project: Project, path: str) -> list[str]:
    found = project.ask("pump oil seal motor bearings", "--top-k", "100")["results"]
    return [hit["id"] for hit in found if hit["path"] == path]


def test_grades_of_two_chunks_are_grades_of_their_document(
    project: Project, tmp_path: Path
) -> None:
    first, second, *_ = chunks_of(project, "pump.md")
    file = tmp_path / "q.jsonl"
    for grades in ({first: 1, second: 0}, {first: 0, second: 1}, {first: 1, second: 3}):
        report = judge(project, write(file, [("the motor of the pump", grades)]))
        assert set(report["metrics"]["hybrid"].values()) == {1.0}
        assert list(report["per_question"][0]["relevant"].values()) == [max(grades.values())]


def test_path_and_id_of_a_document_are_the_same_document(
    project: Project, documents: dict[str, set[str]], tmp_path: Path
) -> None:
    [(name, _)] = [entry for entry in documents.items() if "pump.md" in entry[1]]
    file = write(tmp_path / "q.jsonl", [("the motor of the pump", ["pump.md", name])])
    # If they were two documents, of which the second is never found, nDCG would be 1 / (1 + 1 /
    # log2(3)) = .613.
    report = judge(project, file)
    assert report["metrics"]["hybrid"]["nDCG@10"] == 1.0
    assert report["metrics"]["hybrid"]["R-precision"] == 1.0


def test_a_path_in_two_sources_means_both_documents(
    project: Project, documents: dict[str, set[str]], tmp_path: Path
) -> None:
    both = [name for name, names in documents.items() if "guide.md" in names]
    assert len(both) == 2
    file = write(
        tmp_path / "q.jsonl",
        # The other copy is graded by its id, so the higher of the two grades applies.
        [("visitors at the gate", ["guide.md"]), ("visitors", {"guide.md": 1, both[1]: 2})],
    )
    judged = judge(project, file)["per_question"]
    assert judged[0]["relevant"] == dict.fromkeys(both, 1.0)
    assert judged[1]["relevant"] == {both[0]: 1.0, both[1]: 2.0}
    assert judged[0]["values"]["hybrid"]["recall@10"] == 1.0


def test_copies_and_merged_documents_count_as_found(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    copy = judge(project, write(file, [(QUERIES[3], ["copy of valve.md"])]))
    assert copy["metrics"]["hybrid"]["MRR@10"] == 1.0
    # Both documents have the path; the first hit represents both, and they take the first two
    # ranks.
    stood_for = judge(project, write(file, [("oil is drained into the tank", ["oil.md"])]))
    assert stood_for["metrics"]["hybrid"]["R-precision"] == 1.0
    assert len(stood_for["per_question"][0]["relevant"]) == 2


def test_unknown_names_are_reported_and_count_as_not_found(
    project: Project, tmp_path: Path
) -> None:
    asked: Asked = [(QUERIES[3], {"valve.md": 1, "absent.md": 1, "graded 0": 0})]
    file = write(tmp_path / "q.jsonl", asked)
    report = judge(project, file)
    assert report["missing"] == ["absent.md"]
    values = report["metrics"]["hybrid"]
    assert values["nDCG@10"] == pytest.approx(1 / (1 + 1 / math.log2(3)), abs=1e-6)
    assert values["recall@100"] == 0.5
    said = "1 relevant name cannot be found in the index: 'absent.md'"
    assert said in project.succeed("eval", "--quiet", "--questions", str(file)).stdout
    assert said in ask_export(project.root / "dist" / "notes", "--questions", str(file)).stdout


def test_a_question_asked_twice_counts_twice(project: Project, tmp_path: Path) -> None:
    asked: Asked = [(QUERIES[3], ["valve.md"])] * 2 + [(QUERIES[3], ["absent.md"])]
    report = judge(project, write(tmp_path / "q.jsonl", asked))
    assert report["questions"] == 3
    assert report["metrics"]["hybrid"]["hit@1"] == round(2 / 3, 6)


@pytest.mark.parametrize(
    "relevant", [[], {}, {"valve.md": 0}, {"valve.md": -1}, {"valve.md": "1"}, "valve.md", [""]]
)
def test_files_without_judgements_are_refused_with_the_same_message(
    relevant: Any, project: Project, tmp_path: Path
) -> None:
    file = write(tmp_path / "q.jsonl", [(QUERIES[3], ["valve.md"]), (QUERIES[3], relevant)])
    ours = project.run("eval", "--quiet", "--questions", str(file))
    theirs = ask_export(project.root / "dist" / "notes", "--questions", str(file))
    assert (ours.exit_code, theirs.returncode) == (2, 2)
    said, _, hint = ours.stderr.removeprefix("error: ").partition("\n")
    assert said.startswith(f"{file}, line 2: ")
    assert theirs.stderr.startswith(f"notes: {said}\n")
    assert hint.split(maxsplit=1)[1:] != []


def test_beir_files_are_judged_like_questions(project: Project, tmp_path: Path) -> None:
    asked: Asked = [
        (QUERIES[0], {"pump.md": 2, "oil.md": 1, "absent.md": 1}),
        (QUERIES[2], {"guide.md": 1}),
    ]
    plain = judge(project, write(tmp_path / "q.jsonl", asked))
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    lines = [{"_id": str(number), "text": query} for number, (query, _) in enumerate(asked)]
    queries.write_text("\n".join(map(json.dumps, lines)))
    # A pair that is judged twice has the higher grade.
    rows = ["query-id\tcorpus-id\tscore", "0\tpump.md\t2", "0\tpump.md\t1"]
    rows += ["0\toil.md\t1", "0\tabsent.md\t1", "1\tguide.md\t1"]
    qrels.write_text("\n".join(rows) + "\n")
    options = ("--queries", str(queries), "--qrels", str(qrels))
    beir = json.loads(project.succeed("eval", "--quiet", "--json", *options).stdout)
    assert {**beir, "latency_ms": 0} == {**plain, "latency_ms": 0}


def test_drawn_questions(project: Project, documents: dict[str, set[str]], tmp_path: Path) -> None:
    """Both commands agree with each other, and with trec_eval."""
    chance = random.Random(20)
    names = sorted({*UNKNOWN, *(name for own in documents.values() for name in own)})
    asked: Asked = []
    for _ in range(60):
        grades = {name: chance.randint(-1, 3) for name in chance.sample(names, 6)}
        asked.append((chance.choice(QUERIES), {**grades, chance.choice(names): 2}))
    report = judge(project, write(tmp_path / "q.jsonl", asked))
    assert any(owners(documents, hit) for hit in project_hits(project, QUERIES[4]))
    for (query, relevant), judged in zip(asked, report["per_question"], strict=True):
        expected = {name: grade for name, grade in dict(relevant).items() if name in UNKNOWN}
        for document, own in documents.items():
            if given := [grade for name, grade in dict(relevant).items() if name in own]:
                expected[document] = max(given)
        assert judged["relevant"] == expected
        hits = project_hits(project, query)
        ranked = list(
            dict.fromkeys(
                document
                for hit in hits
                for document in (hit["document_id"], *owners(documents, hit))
            )
        )
        oracle = ask_trec_eval(ranked, {name: max(0, grade) for name, grade in expected.items()})
        assert {name: judged["values"]["hybrid"][name] for name in METRICS} == pytest.approx(
            oracle, abs=1e-4
        )


HITS: dict[tuple[Path, str], list[dict[str, Any]]] = {}


def project_hits(project: Project, query: str) -> list[dict[str, Any]]:
    key = project.root, query
    if key not in HITS:
        HITS[key] = project.ask(query, "--top-k", "100")["results"]
    return HITS[key]


def owners(documents: dict[str, set[str]], hit: dict[str, Any]) -> list[str]:
    """Return the documents whose chunks a hit represents."""
    return [
        document
        for name in hit.get("near_duplicates", [])
        for document, own in documents.items()
        if name in own
    ]

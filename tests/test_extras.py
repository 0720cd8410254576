"""A missing extra is reported once, before any work begins, and only if the extra is needed."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import warm_python
from conftest import CONFIG, MakeProject, Project
from document_files import compound
from sharing import begin_foundry

from foundry.building.report import BuildReport, Remarks
from foundry.building.report_text import format_report
from foundry.config.extras import EXTRAS, INSTEAD, of_figures, of_server, require
from foundry.config.project import load_config
from foundry.documents import Document, RawDocument, Skipped
from foundry.errors import MissingExtraError
from foundry.readers import contract, read

pytestmark = pytest.mark.usefixtures("formatted_once")

NOTE = {"note.md": "# Pumps\n\nReplace the D40 seal yearly.\n"}
QUESTIONS = {"./questions.jsonl": '{"query": "seal", "relevant": ["note.md"]}\n'}
MODEL = '[embedding]\nprovider = "{}"\nmodel = "some/model"\n'
STORE = '[store]\nengine = "{}"\n'
RERANK = '[search.rerank]\nmodel = "some/model"\n'

HIDING = """
import sys
imported = {{name.partition(".")[0] for name in sys.modules}}
assert imported.isdisjoint({modules!r}), "imported before it is asked for"
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
"""
RUN = "from foundry.__main__ import main; main()"
LIGHT = ("foundry.cli.main", "foundry.config.project", "foundry.building.run")

QUERY, EVAL, PUBLISH, EXPORT = ["query"], ["eval"], ["publish"], ["export"]
CASES = [
    ("sentence-transformers", MODEL.format("sentence-transformers"), [["build"]]),
    ("fastembed", MODEL.format("fastembed"), [["build"]]),
    ("ray", "", [["build", "--engine", "ray"]]),
    ("models", MODEL.format("openai"), [["build"]]),
    ("near", '[build]\nduplicates = "near"\n', [["build"]]),
    ("ocr", '[[sources]]\ntype = "folder"\nname = "scans"\npath = "."\nocr = true\n', [["build"]]),
    ("pgvector", STORE.format("pgvector"), [QUERY, EVAL, PUBLISH]),
    ("qdrant", STORE.format("qdrant"), [QUERY, EVAL, PUBLISH]),
    ("rerank", RERANK, [QUERY, EVAL, EXPORT]),
    ("watch", "", [["watch"], ["serve"]]),
    ("server", "", [["serve"]]),
]


def test_every_extra_is_tested() -> None:
    assert {extra for extra, _, _ in CASES} == EXTRAS.keys()


def run_without(
    modules: Sequence[str], project: Project, command: list[str], begin: list[str]
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process that cannot import these modules."""
    arguments = [command[0], str(project.root), *command[1:]]
    arguments += ["seal"] if command[0] == "query" else []
    *begin, code = begin
    return subprocess.run(
        [*begin, HIDING.format(modules=tuple(modules)) + code, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def everything_in(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize(("extra", "options", "commands"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.slow
def test_missing_extra_is_reported_in_one_sentence(
    extra: str, options: str, commands: list[list[str]], make_project: MakeProject
) -> None:
    project = make_project({**NOTE, **QUESTIONS}, config=CONFIG + options)
    if "[embedding]" not in options and commands[0][0] != "build":
        project.succeed("build", "--quiet")
    written, missing = EXTRAS[extra]
    are = "is" if len(missing) == 1 else "are"
    before = everything_in(project.root)
    for command in commands:
        done = run_without(missing, project, command, [*warm_python.command(*LIGHT), RUN])
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr == (
            f"error: {written} needs {' and '.join(missing)}, which {are} not installed:"
            f" pip install 'rag-foundry[{extra}]'\n"
            + (f"hint: {INSTEAD[extra]}\n" if extra in INSTEAD else "")
        )
        assert everything_in(project.root) == before


@pytest.mark.parametrize(
    "module", sorted({each for _, modules in EXTRAS.values() for each in modules})
)
def test_each_module_is_required(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    extras = [extra for extra, (_, modules) in EXTRAS.items() if module in modules]
    monkeypatch.setitem(sys.modules, module, None)
    for extra in extras:
        with pytest.raises(MissingExtraError, match=f"{module}.*rag-foundry.{extra}"):
            require([extra])


@pytest.mark.parametrize(
    ("module", "options", "commands"),
    [
        ("psycopg", STORE.format("pgvector"), [["build", "--quiet"], EXPORT]),
        ("onnxruntime", RERANK, [["build", "--quiet"], EXPORT]),
    ],
)
@pytest.mark.slow
def test_unneeded_modules_are_not_required(
    module: str, options: str, commands: list[list[str]], make_project: MakeProject
) -> None:
    project = make_project(NOTE, config=CONFIG + options)
    for command in commands:
        done = run_without([module], project, command, begin_foundry())
        assert (done.returncode, done.stderr) == (0, "")


def test_all_missing_extras_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("psycopg", "psycopg_pool", "onnxruntime"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        require(["static", "pgvector", "embedded", "rerank", "pgvector"])
    assert caught.value.message == (
        '[store] engine = "pgvector" needs psycopg and psycopg_pool, and [search.rerank] needs'
        " onnxruntime, which are not installed: pip install 'rag-foundry[pgvector,rerank]'"
    )
    assert caught.value.hint is None


def test_alternatives_to_an_extra_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError) as caught:
        require(["sentence-transformers"])
    assert caught.value.hint == (
        'provider = "transformer" runs models of the BERT family from a folder; it only needs numpy'
    )


def test_a_model_is_required_where_it_embeds_queries(make_project: MakeProject) -> None:
    options = MODEL.format("fastembed") + RERANK
    config = load_config(make_project(NOTE, config=CONFIG + options).root)
    assert list(of_server(config, "model")) == ["fastembed", "embedded", "rerank"]
    assert list(of_server(config, "pieces")) == ["embedded", "rerank"]
    # Such an export is evaluated with keyword search and without reranking.
    assert list(of_figures(config, "model")) == []
    assert list(of_figures(config, "pieces")) == ["rerank"]


@pytest.fixture
def without_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "_is_importable", lambda _: False)


@pytest.mark.usefixtures("without_extras")
def test_documents_of_a_missing_extra_are_skipped_and_name_it() -> None:
    skipped = read(RawDocument("s", "a.msg", "a.msg", compound({"__substg1.0_1000001F": b"x"})))
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "to be read with pip install 'rag-foundry[office]'"


@pytest.mark.usefixtures("without_extras")
def test_code_is_read_as_text_without_its_parser() -> None:
    document = read(RawDocument("s", "b.py", "b.py", b"def seal():\n    return 1\n"))
    assert isinstance(document, Document)
    assert document.reading.lacking == "code"
    assert not document.reading.headings
    report = BuildReport(["s"])
    report.read(document.source, document.path, Remarks.of(document))
    assert "1 read as plain text; for their outline: pip install 'rag-foundry[code]'" in (
        format_report(report.to_json(), {}, "report.json")
    )

"""The before-and-after examples in docs/stage-examples.toml match what searches return.

`pytest tests/test_stage_examples.py --update-golden` rewrites the file; `make docs` copies it.
"""

import importlib
import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from doc_examples import ROOT
from small_indexes import rendered_server

from foundry import pipeline
from foundry.config.project import load_config
from foundry.features.stages import STAGES
from foundry.indexing.versions import built_index
from foundry.progress import Reporter

FILE = ROOT / "docs" / "stage-examples.toml"
TOLD = tomllib.loads(FILE.read_text(encoding="utf-8"))
EXAMPLES = TOLD["examples"]
ASK_A_MODEL = {"[search.understanding]", "[search.rerank]", "[search.rerank_service]"}
ROWS = 4


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the handbook with the examples' files and options, on a fixed date."""
    return build_index(tmp_path_factory.mktemp("stages") / "handbook")


@pytest.fixture(scope="module")
def plain(index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with rendered_server(tmp_path_factory.mktemp("plain"), "without_stages", "") as server:
        server.load(index)
        yield server


@pytest.fixture(autouse=True)
def day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_DATE", TOLD["day"])


def build_index(folder: Path) -> Path:
    shutil.copytree(ROOT / "examples" / "handbook", folder)
    for name, text in TOLD["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with (folder / "foundry.toml").open("a", encoding="utf-8") as file:
        file.write(TOLD["index"])
    pipeline.build(folder, Reporter(quiet=True))
    return built_index(load_config(folder)).folder


def search(server: ModuleType, example: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the best hits, one per line, and the response's explanation."""
    if example["stage"] == "[search.suggestions]":
        return suggest(server, example["query"]), []
    asks = {"facets": True} if "[search.facets]" in example["options"] else {}
    answer = server.search_hybrid(example["query"], ROWS, **asks)
    hits = [
        f"{hit.score:.3f} `{hit.path}`, {hit.section[-1] if hit.section else hit.title}"
        for hit in answer.hits
    ]
    facets = answer.facets.filters if asks else ()
    counts = [
        f"`{facet.filter}`: {', '.join(f'{one.value} {one.count}' for one in facet.values)}"
        for facet in facets
    ]
    notices = [told["notice"] for told in answer.stages.values() if "notice" in told]
    return hits, [*(answer.explanation or notices), *counts]


def suggest(server: ModuleType, query: str) -> list[str]:
    stage = importlib.import_module(f"{server.__name__}.retrieval.stages.suggestions")
    opening = importlib.import_module(f"{server.__name__}.opening")
    found = stage.suggest(opening.current_index(), query)
    return [f"`{each.text}` ({each.kind})" for each in found[:ROWS]]


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["stage"])
def test_before_and_after(
    example: dict[str, Any],
    index: Path,
    plain: ModuleType,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    before: list[str] = []
    if example["stage"] != "[search.suggestions]":
        before, _ = search(plain, {**example, "options": ""})
    (tmp_path / "words.txt").write_text(TOLD["files"]["words.txt"], encoding="utf-8")
    name = f"with_stage_{EXAMPLES.index(example)}"
    with rendered_server(tmp_path, name, example["options"]) as server:
        server.load(index)
        after, told = search(server, example)
    found = {"before": before, "after": after, "told": told}
    if request.config.getoption("--update-golden"):
        update(example["stage"], found)
    assert found == {key: example[key] for key in found}


def update(stage: str, found: dict[str, list[str]]) -> None:
    """Write a stage's results into the file of examples."""
    head, *entries = FILE.read_text(encoding="utf-8").split("[[examples]]")
    for number, entry in enumerate(entries):
        if f"stage = '{stage}'" in entry:
            kept = entry[: entry.index("\nbefore = ")]
            lists = (f"{key} = [{listed(lines)}]\n" for key, lines in found.items())
            end = "\n" if number + 1 < len(entries) else ""
            entries[number] = f"{kept}\n{''.join(lists)}{end}"
    FILE.write_text("[[examples]]".join([head, *entries]), encoding="utf-8")


def listed(lines: list[str]) -> str:
    quoted = (f"    {json.dumps(line, ensure_ascii=False)},\n" for line in lines)
    return f"\n{''.join(quoted)}" if lines else ""


def test_every_stage_without_a_model_has_an_example() -> None:
    titles = [title.replace("`", "") for each in STAGES.values() for title, *_ in each.document()]
    assert [example["stage"] for example in EXAMPLES] == [
        title for title in titles if title not in ASK_A_MODEL
    ]

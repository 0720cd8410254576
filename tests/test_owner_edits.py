"""Typical edits by owners of exports: each in one place, working, and kept by an update."""

import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from browsers import browser, visit
from click.testing import CliRunner
from conftest import write_project
from servers import check_format, get, in_checkout, post, run_tests, run_tool, serving

from foundry.cli.main import main
from foundry.config.project import load_config
from foundry.export.basis import Basis
from foundry.export.compose import compose_export
from foundry.export.write import write_export

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once", "forked_servers")]

NOTES = {
    "pumps.md": "# Pumps\n\nA seal keeps the water in.\n",
    "seals.md": "# Seals\n\nReplace every seal yearly.\n",
}

Edits = Mapping[str, tuple[tuple[str, str], ...]]
"""Replacements by file: a text that occurs once in the file, and the new text."""

BOOST: Edits = {
    "search.py": (
        (
            "    listed = best_of_documents(",
            "    factors = title_factors(candidates, index, terms)\n"
            '    candidates = candidates.boosted("title", factors, 1.1)\n'
            "    listed = best_of_documents(",
        ),
        (
            "\n\ndef search_hybrid(",
            '''

def title_factors(candidates: Candidates, index: Index, terms: Iterable[str]) -> Scores:
    """Return 1.1 for chunks whose title has a word of the query, and 1 for others."""
    titles = [index.chunk(int(number)).title for number in candidates.chunks]
    words = [index.tokenizer.terms(title) for title in titles]
    has_word = [not set(terms).isdisjoint(of_title) for of_title in words]
    return np.where(has_word, 1.1, 1.0)


def search_hybrid(''',
        ),
        (
            "\nfrom .index.heading_terms import query_terms",
            """
from collections.abc import Iterable

import numpy as np

from .index.heading_terms import query_terms
from .index.protocols import Scores
from .index.reader import Index""",
        ),
    ),
}
ENDPOINTS: Edits = {
    "custom.py": (
        (
            "from .retrieval.hooks import Hooks\n\nHOOKS = Hooks()\n",
            '''from fastapi import FastAPI

from .retrieval.hooks import Hooks


def add_routes(app: FastAPI) -> None:
    """Tell when we are here."""

    @app.get("/opening-hours")
    def opening_hours() -> dict[str, str]:
        return {"monday": "9 to 17"}


HOOKS = Hooks(add_routes=add_routes)
''',
        ),
    ),
    "app.py": (
        (
            "    app.add_middleware(\n",
            '''    @app.get("/version")
    def version() -> dict[str, str]:
        """Return the version of this server."""
        return {"version": __version__}

    app.add_middleware(
''',
        ),
    ),
}
LAYOUT: Edits = {
    "page/search.html": (
        ("    <main>\n", '    <main>\n      <p class="hours">Open from 9 to 17.</p>\n'),
    ),
    "page/page.css": (("  max-width: 52rem;\n  min-height", "  max-width: 40rem;\n  min-height"),),
    "page/search.css": (("", "\n.hours {\n  text-align: right;\n}\n"),),
}
TOOL: Edits = {
    "mcp/tools.py": (
        (
            "\n\n@dataclass(frozen=True, slots=True)\nclass Tool:",
            '''

@dataclass(frozen=True, slots=True)
class OpeningHours(Record):
    """When we are here."""

    monday: str


def _tell_hours(_: Mapping[str, Any]) -> OpeningHours:
    return OpeningHours("9 to 17")


@dataclass(frozen=True, slots=True)
class Tool:''',
        ),
        (
            "_TOOLS = (\n",
            """_TOOLS = (
    Tool(
        "opening_hours",
        "Opening hours of {title}",
        "Tell when somebody is here.",
        OpeningHours,
        _tell_hours,
    ),
""",
        ),
    ),
    "mcp/models.py": (
        (
            '    "search": SearchToolRequest,\n',
            '    "opening_hours": ListSourcesRequest,\n    "search": SearchToolRequest,\n',
        ),
    ),
}
METRIC: Edits = {
    "web/observing.py": (
        (
            "\n\n_logger = ",
            """
NOTHING_FOUND = _counter("searches_without_hits", "Searches that found nothing.", "mode")

_logger = """,
        ),
        (
            "        if (logged := _found.get())",
            """        if not response.hits:
            NOTHING_FOUND(response.mode).inc()
        if (logged := _found.get())""",
        ),
    ),
}
HEADER: Edits = {
    "custom.py": (
        (
            "from .retrieval.hooks import Hooks\n\nHOOKS = Hooks()\n",
            '''from .retrieval.hooks import Caller, Hooks


def is_from_gateway(caller: Caller) -> bool:
    """Return whether the gateway has let a request pass."""
    return caller.headers.get("x-gateway") == "passed"


HOOKS = Hooks(authorise=is_from_gateway)
''',
        ),
    ),
    "../tests/conftest.py": (("    return {}\n", '    return {"X-Gateway": "passed"}\n'),),
}
SNIPPETS: Edits = {
    "retrieval/snippets.py": (
        (
            "MAX_CHARACTERS, MAX_UNCUT_CHARACTERS = 300, 400",
            "MAX_CHARACTERS, MAX_UNCUT_CHARACTERS = 120, 150",
        ),
    ),
}
WAITING: Edits = {
    "web/routes.py": (
        (
            "        return search(*arguments, **options)\n",
            "        return await asyncio.to_thread(search, *arguments, **options)\n",
        ),
        ("\nfrom collections.abc import", "\nimport asyncio\nfrom collections.abc import"),
    ),
}
TITLE: Edits = {
    "settings.json": (('"title": "notes"', '"title": "Notes of ours"'),),
}
OTHER: Edits = {
    "search.py": (('"""How this server searches', '"""How another version searched'),),
    "app.py": (('"""The HTTP application', '"""The app of another version'),),
    "custom.py": (('"""Your own code', '"""Your code'),),
    "page/search.html": (("<title>Search<", "<title>Search of another version<"),),
    "page/page.css": (("/* The style of", "/* Another version of"),),
    "page/search.css": (),
    "mcp/tools.py": (('"""The tools, and their', '"""Another version of the tools, and their'),),
    "mcp/models.py": (('"""Models of', '"""Models of another version of'),),
    "web/observing.py": (("Prometheus metrics, and", "Another version of metrics, and"),),
}
"""Replacements that make the files of another version of Foundry."""


@dataclass(frozen=True)
class Edited:
    """A server with all edits, and its results before them."""

    address: str
    before: list[dict[str, Any]]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edited]:
    export = write_older(tmp_path_factory.mktemp("project"))
    with serving(in_checkout(export)) as address:
        before = post(f"{address}/search", {"query": "seal"})["results"]
    check_edit(export, {**BOOST, **ENDPOINTS, **LAYOUT, **TOOL, **METRIC})
    with serving(in_checkout(export)) as address:
        yield Edited(address, before)


def write_older(root: Path) -> Path:
    """Write an unedited export of an older version of Foundry."""
    project = write_project(root, NOTES, built=True)
    written = compose_export(Basis.of(load_config(project.root), trust=False, stale=False))
    files = dict(written.files)
    for name, changes in OTHER.items():
        files[f"notes/{name}"] = apply(files[f"notes/{name}"].decode(), changes).encode()
    folder = project.root / "dist" / "notes"
    write_export(folder, replace(written, files=files), force=False)
    return folder


def apply(text: str, changes: tuple[tuple[str, str], ...]) -> str:
    for old, new in changes:
        if old:
            assert text.count(old) == 1, (old, text)
        text = text.replace(old, new) if old else text + new
    return text


def edit(export: Path, edits: Edits) -> None:
    for name, changes in edits.items():
        path = export / "notes" / name
        path.write_text(apply(path.read_text(encoding="utf-8"), changes), encoding="utf-8")


def run(command: str, export: Path) -> str:
    result = CliRunner().invoke(main, [command, str(export)])
    assert result.exit_code == 0, result.output
    return result.output


def check_named(export: Path, edits: Edits) -> None:
    """Verify the export, which must name every edited file."""
    said = run("verify", export)
    for name in edits:
        assert f": notes/{name}\n" in said, said
    assert said.count("edited") == len(edits), said


def check_edit(export: Path, edits: Edits) -> None:
    """Edit, verify, update to the current templates, and verify again."""
    edit(export, edits)
    run_tool(export, "ruff", "check", "--no-cache", ".")
    check_format(export)
    check_named(export, edits)
    said = run("update", export)
    for name in edits:
        kept = "kept as you edited it" if name in ("custom.py", "page/search.css") else "merged"
        assert f"notes/{name}: {kept}\n" in said, said
    check_named(export, edits)
    for name in {"search.py", "app.py", "page/page.css", "mcp/tools.py", "web/observing.py"}:
        assert "nother version" not in (export / "notes" / name).read_text(encoding="utf-8")


def test_a_boost_can_be_added_to_the_search(edited: Edited) -> None:
    for mode in ("hybrid", "keyword", "semantic"):
        results = post(f"{edited.address}/search", {"query": "seal", "mode": mode})["results"]
        boosts = {hit["path"]: hit["boosts"].get("title", 1) for hit in results}
        assert boosts == {"seals.md": 1.1, "pumps.md": 1}
    results = post(f"{edited.address}/search", {"query": "seal"})["results"]
    scores = [{hit["path"]: hit["score"] for hit in hits} for hits in (edited.before, results)]
    assert scores[1]["seals.md"] == pytest.approx(scores[0]["seals.md"], abs=1e-5)
    assert scores[1]["pumps.md"] == pytest.approx(scores[0]["pumps.md"] / 1.1, abs=1e-5)


def test_endpoints_can_be_added_by_hook_and_in_the_application(edited: Edited) -> None:
    assert get(f"{edited.address}/opening-hours") == {"monday": "9 to 17"}
    assert get(f"{edited.address}/version") == {"version": "0.1.0"}
    assert {"/opening-hours", "/version"} <= get(f"{edited.address}/openapi.json")["paths"].keys()


def test_layout_of_a_page_can_be_edited(edited: Edited) -> None:
    with browser() as running, visit(running, edited.address) as tab:
        tab.go("/?q=seal")
        tab.see("p.hours", "Open from 9 to 17.")
        tab.count("#results > li", 2)
        style = "(element) => getComputedStyle(element)"
        page = tab.page
        assert page.eval_on_selector("body", f"{style}.maxWidth") == "640px"
        assert page.eval_on_selector("p.hours", f"{style}.textAlign") == "right"


def test_an_mcp_tool_can_be_added(edited: Edited) -> None:
    call = {"name": "opening_hours", "arguments": {}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Accept": "application/json, text/event-stream"}
    answer = post(f"{edited.address}/mcp", asked, **headers)
    assert answer["result"]["structuredContent"] == {"monday": "9 to 17"}


def test_a_metric_can_be_added(edited: Edited) -> None:
    assert post(f"{edited.address}/search", {"query": "zebra", "mode": "keyword"})["results"] == []
    with urllib.request.urlopen(f"{edited.address}/metrics") as answer:
        assert b'searches_without_hits_total{mode="keyword"} 1.0' in answer.read()


def test_the_exports_own_tests_pass_after_edits(tmp_path: Path) -> None:
    export = write_older(tmp_path)
    every = {**TOOL, **HEADER, **SNIPPETS, **METRIC, **LAYOUT, **WAITING, **TITLE}
    every["app.py"] = ENDPOINTS["app.py"]
    edit(export, every)
    check_format(export)
    run("update", export)
    copied = "tests/retrieval/test_snippets.py", "tests/web/test_observing.py"
    # No edit is about the index.
    run_tests(export, "test_[!i]*.py", *copied)
    said = run("verify", export)
    for name in every:
        assert f": {f'notes/{name}'.removeprefix('notes/../')}\n" in said
    assert said.count("edited") == len(every)

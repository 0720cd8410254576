"""Exports whose hooks change scores: their own tests pass, or name the hook."""

import subprocess
import sys

import pytest
from conftest import MakeProject
from servers import in_checkout, run_tests

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

NOTES = {
    "pumps.md": "# Pumps\n\nReplace the D40 seal yearly.\n\n## Oil\n\nFill in oil before use.\n",
    "lamps.md": "# Lamps\n\nA lamp is checked before each shift.\n",
}
HOOK = """
from dataclasses import replace

from .retrieval.hooks import Hooks, SearchRequest
from .retrieval.results import SearchResponse


def after_search(request: SearchRequest, response: SearchResponse) -> SearchResponse:
    hits = [replace(hit, score={score}) for hit in response.hits]
    return replace(response, hits=tuple(hits))


HOOKS = Hooks(after_search=after_search)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("score", "tests"),
    [
        # The tests of the index only require a response.
        ("hit.score * (10 if hit.path == 'lamps.md' else -1)", "test_[!i]*.py"),
        # Infinity matters where responses are created and where they are serialised.
        ("float('inf')", "test_[asm]*.py"),
    ],
)
def test_a_hook_that_changes_scores_breaks_no_test(
    score: str, tests: str, make_project: MakeProject
) -> None:
    project = make_project(NOTES)
    project.succeed("build", "--quiet")
    export = project.export()
    (export / "notes/custom.py").write_text(HOOK.format(score=score))
    run_tests(export, tests)


SERVED = """
from starlette.testclient import TestClient
from notes.app import create_app
with TestClient(create_app(), base_url="http://127.0.0.1:8000") as client:
    answer = client.post("/search", json={"query": "seal"})
    print(answer.status_code, answer.headers["content-type"], answer.json()["detail"])
"""


def test_a_failing_hook_is_a_server_error_over_http(make_project: MakeProject) -> None:
    project = make_project(NOTES)
    project.succeed("build", "--quiet")
    export = project.export()
    (export / "notes/custom.py").write_text(HOOK.format(score="None"))
    command = [sys.executable, "-c", SERVED]
    done = subprocess.run(command, cwd=export, capture_output=True, text=True, check=True)
    assert done.stdout == "500 application/problem+json The server failed.\n"
    assert "POST '/search' failed" in done.stderr
    assert "hooks.py" in done.stderr


PUBLIC = """
from dataclasses import replace

from .retrieval.hooks import Hooks, SearchRequest


def only_public(request: SearchRequest) -> SearchRequest:
    tags = (*request.filters.get("tags", ()), "public")
    return replace(request, filters={**request.filters, "tags": tags})


HOOKS = Hooks(before_search=only_public)
"""


def test_verify_passes_with_a_hook_that_restricts_searches(make_project: MakeProject) -> None:
    project = make_project(NOTES)
    project.succeed("build", "--quiet")
    export = project.export()
    example = (export / "notes/custom.py").read_text().replace("\n    ", "\n")
    # The hook is the example of the file itself.
    assert PUBLIC[PUBLIC.index("def only") : PUBLIC.index("\n\nHOOKS")].strip() in example
    (export / "notes/custom.py").write_text(PUBLIC)
    verified, searched = (
        subprocess.run([*in_checkout(export), *asked], capture_output=True, text=True)
        for asked in (["verify"], ["search", "seal"])
    )
    assert verified.returncode == 0, verified.stdout
    assert "Nothing found." in searched.stdout


def test_errors_in_custom_py_are_shown_unchanged(make_project: MakeProject) -> None:
    project = make_project(NOTES)
    project.succeed("build", "--quiet")
    export = project.export()
    (export / "notes/custom.py").write_text("HOOKS = Hook()\n")
    command = [*in_checkout(export), "search", "seal"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "custom.py" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("NameError: name 'Hook'")

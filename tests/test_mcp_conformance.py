"""MCP tested with third-party tools: the conformance suite, and the Inspector's command line.

Both are Node programs, installed once into a folder of the environment.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from node_packages import NODE, node_modules
from servers import in_checkout, serving
from test_mcp_export import QUERY, make_export

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]

SCENARIOS: dict[str, set[str]] = {
    "server-initialize": set(),
    "server-session-lifecycle": set(),
    "server-stateless": {
        # These scenarios need tools of the suite's own test server.
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
    },
    "ping": set(),
    "tools-list": set(),
    "dns-rebinding-protection": set(),
    "caching": {
        # There are no prompts and no resources to list.
        "sep-2549-prompts-list-caching-hints",
        "sep-2549-resources-list-caching-hints",
        "sep-2549-resources-templates-list-caching-hints",
    },
    "http-header-validation": set(),
    "input-required-result-missing-input-response": set(),
    "input-required-result-unsupported-methods": set(),
    "input-required-result-ignore-extra-params": set(),
    "input-required-result-validate-input": set(),
}
"""Scenarios for any server, each with the checks that this server must fail.

The other scenarios require tools, prompts and resources that only the suite's own server has.
"""

Checks = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_export(tmp_path_factory.mktemp("conformance") / "project")


@pytest.fixture(scope="module")
def address(export: Path) -> Iterator[str]:
    with serving(in_checkout(export)) as address:
        yield address


def run(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    modules = node_modules("mcp")
    command = [NODE, str(modules / "@modelcontextprotocol" / script), *arguments]
    environment = {"PATH": os.environ["PATH"], "HOME": str(modules.parent)}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=600, env=environment, check=False
    )


@pytest.fixture(scope="module")
def checks(address: str, tmp_path_factory: pytest.TempPathFactory) -> Checks:
    """Run the suite; return a function that returns the checks of a scenario."""
    results = tmp_path_factory.mktemp("results")
    arguments = ("--url", f"{address}/mcp", "--suite", "all", "--output-dir", str(results))
    done = run("conformance/dist/index.js", "server", *arguments)

    def checks_of(scenario: str) -> list[dict[str, Any]]:
        # The name of the folder contains the time.
        (file,) = results.glob(f"server-{scenario}-[0-9]*-[0-9]*T*/checks.json")
        found: list[dict[str, Any]] = json.loads(file.read_bytes())
        assert found, done.stdout + done.stderr
        return found

    return checks_of


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_conformance(checks: Checks, scenario: str) -> None:
    failed = {check["id"]: check for check in checks(scenario) if check["status"] == "FAILURE"}
    assert failed.keys() == SCENARIOS[scenario], failed


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_inspector(export: Path, address: str, transport: str) -> None:
    if transport == "http":
        target = (f"{address}/mcp",)
    else:
        # The server is a separate command, because the Inspector interprets the server's options as
        # its own.
        command = export.parent / "server"
        code = (
            f"import runpy, sys\nsys.path.insert(0, {str(export)!r})\n"
            "runpy.run_module('notes', run_name='__main__', alter_sys=True)\n"
        )
        # A shebang line cannot contain an interpreter path with a space.
        begin = shlex.join(["exec", sys.executable, "-I", "-c", code])
        command.write_text(f'#!/bin/sh\n{begin} "$@"\n')
        command.chmod(0o755)
        target = (str(command), "mcp")

    def ask(*arguments: str) -> Any:
        # By default, the Inspector gives up after 15 seconds, which is too short on a busy machine.
        waiting = ("--connect-timeout", "0")
        inspector = "inspector/clients/launcher/build/index.js"
        done = run(inspector, "--cli", *target, *waiting, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    # Strict: schemas that some clients cannot read are errors.
    tools = ask("--method", "tools/list", "--strict")["tools"]
    assert [tool["name"] for tool in tools] == ["search", "fetch", "list_sources"]
    call = ("--method", "tools/call", "--tool-name")
    found = ask(*call, "search", "--tool-arg", f"query={QUERY}", "--tool-arg", "top_k=2")
    best = found["structuredContent"]["results"][0]
    assert "E17 " in best["text"]
    read = ask(*call, "fetch", "--tool-arg", f"id={best['id']}")
    assert read["structuredContent"]["text"] == best["text"]

"""The command line: output, exit codes, and errors handled in one place."""

import json
import re
import subprocess
import sys
from argparse import Namespace
from dataclasses import astuple, replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from samples import sample_chunk

from foundry.runtime import cli as commands
from foundry.runtime import terminal
from foundry.runtime.errors import ConfigurationError, IndexUnusableError, ServerError
from foundry.runtime.index import reader
from foundry.runtime.index.layout import KnownItem
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.filters import Filters, parse_filters
from foundry.runtime.retrieval.journal import Group, Journal, Mode
from foundry.runtime.retrieval.results import Hit, LaneRanks, LaneScores, SearchResponse
from foundry.runtime.retrieval.snippets import add_snippets

CHUNK = sample_chunk(
    text="A \x1b[31mred\x1b[0m\nword. " * 50,
    section=["Guide", "Start"],
    position={"char_start": 0, "char_end": 16, "line_start": 1, "line_end": 1, "page": 3},
    tags=["a"],
)


def search(
    query: str,
    top_k: int = 10,
    *,
    mode: Mode = "hybrid",
    filters: Filters | None = None,
    offset: int = 0,
    group: Group | None = None,
) -> SearchResponse:
    Journal.begin(query, top_k, mode, offset, group)
    if query == "nothing":
        notice = {"filters": {"notice": "No red."}} if filters else {}
        return SearchResponse(
            query,
            mode,
            "default",
            False,
            "strong",
            (),
            0.1,
            notice,
            (),
            explanation=("No red.",) if filters else (),
        )
    parsed = parse_filters(filters)
    degraded = parsed.get("source") == ("docs",) and parsed.get("tags") == ("a", "b")
    hit = Hit(*astuple(CHUNK), 0.5, LaneScores(0.6, None), LaneRanks(1, None), {})
    return SearchResponse(
        query, mode, "default", degraded, "strong", (), 0.1, {}, (hit,) * min(top_k, 2)
    )


def serve(chosen: Namespace) -> None:
    raise ServerError(f"{chosen.host} {chosen.port} {chosen.insecure_no_auth}", hint="the remedy")


def run(*arguments: str) -> int:
    with patch.object(sys, "argv", ["handbook", *arguments]):
        return commands.run("handbook", "1.2.3", lambda: search, serve, more=[terminal.add_search])


def use_index(monkeypatch: pytest.MonkeyPatch, *findings: str, known: str = "c1") -> None:
    index = SimpleNamespace(
        version="v0",
        tokenizer=Tokenizer("english"),
        document_count=1,
        chunk_count=2,
        verify=lambda: list(findings),
        find_chunk=lambda chunk_id: replace(CHUNK, id=chunk_id),
        manifest=SimpleNamespace(files={"a": {}}, known_items=[KnownItem("red", known)]),
    )
    monkeypatch.setattr(reader, "served", SimpleNamespace(whole=lambda: index))
    monkeypatch.setattr(terminal, "current_index", lambda: index)


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    """A valid index."""
    use_index(monkeypatch)


def test_search_prints_a_paragraph_for_each_hit(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("search", "red", "--top-k", "2") == 0
    first, second = capsys.readouterr().out.rstrip("\n").split("\n\n")
    assert first.splitlines()[:2] == ["  1. 0.500  Guide > Start", "     guide.md, page 3"]
    assert second.startswith("  2. 0.500  ")
    assert "\x1b" not in first
    assert len(first) < 500


def test_long_titles_without_spaces_are_cut_and_not_left_out() -> None:
    found = search("red", 1)
    words = "\u6c49" * 150
    hit = replace(found.hits[0], title=words, section=[], snippet=words)
    said = terminal.format_response(replace(found, hits=(replace(hit, more=[hit]),)))
    # The title of the result, the name of the further passage, and its beginning
    assert said.count(f"{words[:98]} \u2026") == 3


def test_search_json_equals_the_response_of_post_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("search", " red ", "--json", "--mode", "keyword") == 0
    shown = search("red", mode="keyword")
    add_snippets(shown, Tokenizer("english"))
    assert json.loads(capsys.readouterr().out) == shown.to_json()


def test_search_passes_filters_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_index(monkeypatch)
    assert run("search", "red", "--source", "docs", "--tag", "a", "--tag", "b") == 0
    assert capsys.readouterr().out.startswith("Searched by keywords only")


def test_search_without_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("search", "nothing") == 0
    assert capsys.readouterr().out == "Nothing found.\n"
    assert run("search", "nothing", "--tag", "red") == 0
    assert capsys.readouterr().out == "No red.\n\nNothing found.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (" ",),
        ("a" * 2001,),
        ("a", "--top-k", "0"),
        ("a", "--top-k", "101"),
        ("a", "--filter", "team"),
    ],
)
def test_invalid_search_exits_with_2(
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use_index(monkeypatch)
    assert run("search", *arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("handbook: ")
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("search",),
        ("search", "a", "--mode", "x"),
        ("serve", "--port", "x"),
    ],
)
def test_wrong_arguments_exit_with_2(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*arguments)
    assert caught.value.code == 2


def test_serve_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("serve") == 1
    assert capsys.readouterr().err == "handbook: 127.0.0.1 None False\n  the remedy\n"
    assert run("serve", "--host", "::", "--port", "0", "--insecure-no-auth") == 1
    assert capsys.readouterr().err.startswith("handbook: :: 0 True\n")

    def refuse(chosen: Namespace) -> None:
        raise ConfigurationError(str(chosen), hint="the remedy")

    with patch.object(sys, "argv", ["handbook", "serve"]):
        assert commands.run("handbook", "1", search, refuse) == 2


def test_verify(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    use_index(monkeypatch)
    assert run("verify") == 0
    said = capsys.readouterr().out
    assert re.search(r": \d+ files? and 1 known item checked\neverything is in order\n$", said)
    use_index(monkeypatch, known="c9")
    assert run("verify", "--json") == 1
    assert json.loads(capsys.readouterr().out)["findings"] == ["the query 'red' does not find c9"]
    use_index(monkeypatch, "chunks.jsonl: content differs from the manifest", known="c9")
    assert run("verify", "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["findings"] == ["chunks.jsonl: content differs from the manifest"]


def test_verify_of_an_unusable_index(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def whole() -> None:
        raise IndexUnusableError("index: damaged", hint="build it again")

    monkeypatch.setattr(reader, "served", SimpleNamespace(whole=whole))
    assert run("verify") == 1
    assert capsys.readouterr().err == "handbook: index: damaged\n  build it again\n"


def test_help_lists_exit_codes_and_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in ((["--help"], "exit codes:"), (["--version"], "handbook 1.2.3\n")):
        with pytest.raises(SystemExit) as caught:
            run(*arguments)
        assert caught.value.code == 0
        assert expected in capsys.readouterr().out


SCRIPT = """
import sys
from types import SimpleNamespace
from foundry.runtime import cli, terminal
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.results import SearchResponse
def search(query, *_, **__):
    sys.stdin.read()
    long = "x" * 1_000_000
    return SearchResponse(long, "hybrid", "default", False, "strong", (), 0, {}, ())
terminal.current_index = lambda: SimpleNamespace(tokenizer=Tokenizer("english"))
sys.argv = ["handbook", "search", *sys.argv[1:]]
sys.exit(cli.run("handbook", "1", lambda: search, None, more=[terminal.add_search]))
"""


def test_closed_pipe_causes_no_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "a", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 1


@pytest.mark.parametrize(
    ("redirection", "arguments", "code", "said"),
    [
        (">/dev/full", ("a",), 1, "handbook: standard output: No space left on device\n"),
        (">&-", ("a",), 1, "handbook: standard output is closed\n  redirect it to a file"),
        ("2>&-", ("a", "--filter", "b"), 2, ""),
        ("2>/dev/full", ("a", "--filter", "b"), 2, ""),
    ],
)
def test_output_that_cannot_be_written_causes_no_traceback(
    redirection: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *command],
        input="",
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(said) and "Traceback" not in done.stderr


def test_search_does_not_import_the_web_modules() -> None:
    script = (
        "import sys, foundry.runtime.terminal\n"
        "assert not {'fastapi', 'starlette', 'uvicorn', 'pydantic'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2])

"""Malformed inputs: each affects only itself, and the rest is indexed.

All of them are in one folder with a good document, as in real folders.
"""

import json
import resource
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import MakeProject, Project, write_project
from tests.document_files import Text, docx, paragraph, pdf

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_readers", "forked_servers")

GOOD = "# Lantern\n\nThe lantern hangs above the quay.\n"
DEEP = 100_000
SUFFIXES = (
    ".adoc .csv .docx .eml .epub .html .ipynb .json .jsonl .mbox .md .mdx .msg .odp .ods .odt .pdf"
    " .pptx .py .rst .rtf .srt .tex .toml .txt .vtt .xls .xlsx .xml .yaml"
).split()
MEMORY = 600_000_000
"""Maximum memory of a build of such inputs, in bytes: many times what the project alone needs."""

# `ru_maxrss` is at least the size of the parent process, which here runs all tests.
MEASURED = """
import resource, sys
from pathlib import Path
from foundry.cli.main import main
try:
    main(sys.argv[1:])
finally:
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        print(peak.split()[1], file=sys.stderr)
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""
"""Runs a command, and prints its peak memory in kilobytes at the end."""

SKIPPED: dict[str, tuple[bytes, str]] = {
    "spaces.txt": (b" " * 1_000_000, "no text"),
    "lines.md": (b"\n" * 1_000_000, "no text"),
    "zeros.txt": (b"\0" * 100_000, "content does not match its name"),
    "open.ipynb": (b'{"cells": ' + b"[" * DEEP, "over a limit of its reader"),
    "deep.ipynb": (b'{"cells": ' + b"[" * DEEP + b"]" * DEEP + b"}", "over a limit of its reader"),
    "deep.json": (b'{"harbour": ' * DEEP + b"1" + b"}" * DEEP, "over a limit of its reader"),
    "deep.yaml": (b"[" * DEEP + b"]" * DEEP, "no text"),
    "nothing.docx": (docx(""), "no text"),
}
"""Files that are skipped: their content, and the reason in the report."""

READ: dict[str, tuple[bytes, str]] = {
    "number.json": (b'{"harbour": ' + b"9" * 5_000 + b"}", "harbour"),
    "nan.json": (b'{"harbour": NaN}', "harbour"),
    "aliases.md": (
        b"---\na: &a [x, x]\n"
        + b"".join(f"{n}: &{n} [*{p}, *{p}]\n".encode() for p, n in pairwise("abcdefghi"))
        + b"---\n\nA harbour with an alias.\n",
        "harbour",
    ),
    "object.md": (
        b"---\na: !!python/object/apply:os.system ['touch harbour-pwned']\n---\n\nA harbour.\n",
        "harbour",
    ),
    "aliases.yaml": (
        b"harbour: &a [x, x]\n"
        + b"".join(f"{n}: &{n} [*{p}, *{p}]\n".encode() for p, n in pairwise("abcdefghi")),
        "harbour",
    ),
    "nul.md": (b"# Har\0bour\n\nA har\0bour in a heading.\n", "harbour"),
    "nul.docx": (docx(paragraph("A harbour in a file.")), "harbour"),
    "nul.pdf": (
        pdf([[Text(12, 700, "A harbour on a page.")]], info="/Title (Har\\000bour)"),
        "harbour",
    ),
    "word.txt": (b"harbour " + b"x" * 1_000_000, "harbour"),
    "line.txt": (b"harbour and quay, " * 60_000, "harbour"),
}
"""Files that are indexed: their content, and a word that finds them."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    files: dict[str, str | bytes] = {
        "good.md": GOOD,
        **{name: content for name, (content, _) in (SKIPPED | READ).items()},
        **{f"empty{suffix}": b"" for suffix in SUFFIXES},
    }
    config = '[project]\nname = "bad"\n[[sources]]\ntype = "folder"\npath = "sources"\n'
    project = write_project(tmp_path_factory.mktemp("bad"), files, config)
    with (project.root / "sources" / "sparse.txt").open("wb") as file:
        file.truncate(10_000_000_000)
    project.succeed("build", "--quiet")
    return project


def entries(project: Project) -> dict[str, dict[str, Any]]:
    report = json.loads((project.index / "report.json").read_bytes())
    return {entry["path"]: entry for entry in report["skipped"]}


def chunks(project: Project) -> list[dict[str, Any]]:
    lines = (project.index / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_good_document_is_found(built: Project) -> None:
    assert built.ask("lantern above the quay")["results"][0]["path"] == "good.md"


def test_bad_files_are_listed_with_their_reason(built: Project) -> None:
    expected = {name: reason for name, (_, reason) in SKIPPED.items()}
    expected |= {f"empty{suffix}": "empty file" for suffix in SUFFIXES}
    expected["sparse.txt"] = "over the size limit"
    assert {name: entry["reason"] for name, entry in entries(built).items()} == expected


def test_imperfect_files_are_read(built: Project) -> None:
    found = chunks(built)
    for name, (_, word) in READ.items():
        texts = [chunk["text"].casefold() for chunk in found if chunk["path"] == name]
        assert any(word in text for text in texts), name
    assert "\\u0000" not in json.dumps(found)
    assert max(len(chunk["text"]) for chunk in found) <= 1200


def test_no_code_in_a_document_was_run(built: Project) -> None:
    assert not [*built.root.rglob("*pwned*"), *Path.cwd().glob("*pwned*")]


def records_config(name: str) -> str:
    return f'[project]\nname = "bad"\n[[sources]]\ntype = "records"\npath = "{name}"\n'


def test_a_table_of_very_many_columns(make_project: MakeProject) -> None:
    names = ["id", "text", *(f"c{number}" for number in range(100_000))]
    row = ["1", "harbour", *("x" for _ in range(100_000))]
    table = "\n".join(",".join(line) for line in (names, row))
    project = make_project({"data/rows.csv": table}, config=records_config("data/rows.csv"))
    assert json.loads(project.succeed("build", "--json").stdout)["documents"] == 1


@pytest.mark.slow
def test_a_table_of_one_huge_line_is_not_kept_in_memory(make_project: MakeProject) -> None:
    project = make_project({"data/rows.csv": "id,text\n1,"}, config=records_config("data/rows.csv"))
    with (project.root / "data/rows.csv").open("ab") as file:
        file.truncate(800_000_000)
        file.seek(0, 2)
        file.write(b"\n2,harbour\n")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "build", str(project.root), "--quiet"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY)),
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.splitlines()[-1]) * 1024 < MEMORY
    assert [chunk["text"] for chunk in chunks(project)] == ["harbour"]

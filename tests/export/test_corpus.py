"""corpus.json: path or url, hash, size, date and licence of every document of an index."""

import hashlib
import json

import pytest
from conftest import CONFIG, MakeProject

from foundry.export.bills import format_corpus

pytestmark = pytest.mark.usefixtures("formatted_once")

TABLE = """
[[sources]]
type = "records"
name = "rows"
path = "sources/rows.jsonl"
metadata = ["License"]
"""
LICENSED = "---\ntitle: Seals\nlicense: CC-BY-4.0\ndate: 2024-05-31\n---\n# Seals\n\nReplace it.\n"
ROW = {"id": "1", "title": "One", "text": "First", "url": "https://e.example/1", "License": "MIT"}


def test_documents_are_listed_with_hashes_and_licences(make_project: MakeProject) -> None:
    files = {"a.md": LICENSED, "b.md": "# Pumps\n\nA pump.\n", "rows.jsonl": json.dumps(ROW) + "\n"}
    config = CONFIG + 'include = ["*.md"]\n' + TABLE
    project = make_project(files, config=config)
    project.succeed("build", "--quiet")
    content = format_corpus(project.index)
    corpus = json.loads(content)
    assert corpus["format"] == 1
    row, first, second = sorted(corpus["documents"], key=lambda entry: entry["path"])
    assert (first["path"], first["licence"]) == ("a.md", "CC-BY-4.0")
    assert first["modified"].startswith("2024-05-31")
    assert first["sha256"] == hashlib.sha256(LICENSED.encode()).hexdigest()
    assert first["bytes"] == len(LICENSED.encode())
    assert "licence" not in second
    assert (row["url"], row["licence"]) == ("https://e.example/1", "MIT")
    exported = project.export()
    assert (exported / "corpus.json").read_bytes() == content
    listed = (exported / "SHA256SUMS").read_text()
    for name in ("corpus.json", "sbom.cdx.json", "uv.lock", "requirements.txt"):
        assert f"{hashlib.sha256((exported / name).read_bytes()).hexdigest()}  {name}\n" in listed

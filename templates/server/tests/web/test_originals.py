"""Files of documents: only those that were indexed, byte for byte, and only from the folder."""

import hashlib
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.index.documents import DocumentRecord
from foundry.runtime.index.records import Place
from foundry.runtime.web.originals import MAX_KNOWN, Originals, original_routes
from foundry.runtime.web.problems import FAILURES, answer_failure

PDF = b"%PDF-1.7 a pump"


def record(
    path: str = "a/pump.pdf", content: bytes = PDF, kind: str = "application/pdf", **more: Any
) -> DocumentRecord:
    return DocumentRecord(
        id="d/1",
        title="Pump",
        source="manuals",
        path=path,
        url=None,
        media_type=kind,
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        modified=None,
        tags=[],
        metadata={},
        reader="pdf/1",
        also_at=more.get("also_at", []),
        chunks=1,
        chunk_start=0,
    )


def put(folder: Path, path: str, content: bytes = PDF) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def client_of(originals: Originals, document: DocumentRecord, patch: Any) -> TestClient:
    documents = SimpleNamespace(find=lambda name: document if name == document.id else None)
    index = SimpleNamespace(part=lambda _kind: documents)
    patch.setattr(f"{original_routes.__module__}.current_index", lambda: index)
    app = FastAPI(exception_handlers=dict.fromkeys(FAILURES, answer_failure))
    app.include_router(original_routes(originals))
    return TestClient(app)


def test_a_file_is_that_of_its_source_or_of_the_only_one(tmp_path: Path) -> None:
    originals = Originals(tmp_path)
    assert originals.find(record()) is None
    alone = put(tmp_path, "a/pump.pdf")
    assert originals.find(record()) == alone
    named = put(tmp_path, "manuals/a/pump.pdf")
    assert originals.find(record()) == named
    assert Originals(None).find(record()) is None


def test_a_copy_elsewhere_stands_for_it(tmp_path: Path) -> None:
    copy = Place("d/2", "archive", "old.pdf", None, "Pump")
    put(tmp_path, "manuals/a/pump.pdf", PDF + b"!")
    file = put(tmp_path, "archive/old.pdf")
    assert Originals(tmp_path).find(record()) is None
    assert Originals(tmp_path).find(record(also_at=[copy])) == file


def test_what_was_not_indexed_is_not_found(tmp_path: Path) -> None:
    originals = Originals(tmp_path)
    file = put(tmp_path, "a/pump.pdf")
    assert originals.find(record()) == file
    # Of the same size and name, and then as it was.
    file.write_bytes(PDF.swapcase())
    assert originals.find(record()) is None
    file.write_bytes(PDF)
    os.utime(file, ns=(1, 1))
    assert originals.find(record()) == file
    file.write_bytes(PDF + b" and more")
    assert originals.find(record()) is None


@pytest.mark.parametrize(
    "path", ["../secret.pdf", "a/../../secret.pdf", "link.pdf", "up/secret.pdf"]
)
def test_nothing_outside_of_the_folder_is_found(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    secret = put(tmp_path, "secret.pdf")
    (folder / "link.pdf").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    (folder / "a").mkdir()
    assert Originals(folder).find(record(path)) is None
    (folder / "inside.pdf").symlink_to(put(folder, "kept.pdf"))
    assert Originals(folder).find(record("inside.pdf")) == folder / "kept.pdf"


@pytest.mark.parametrize("path", ["", ".", "a", "nul\0", "x" * 5_000, "loop", "/etc/hostname"])
def test_what_is_no_file_is_not_found(tmp_path: Path, path: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    assert Originals(tmp_path).find(record(path)) is None
    assert Originals(tmp_path).find(record("pipe", b"")) is None


@pytest.mark.parametrize(
    ("name", "indexed"),
    [
        (b"caf\xe9.pdf", "caf\ufffd.pdf"),
        (b"a\nb\x1b.pdf", r"a\x0ab\x1b.pdf"),
        (b"\xff\xfe/\xff.pdf", "\ufffd\ufffd/\ufffd.pdf"),
        (b"back\\slash.pdf", r"back\slash.pdf"),
        ("caf\ufffd.pdf".encode(), "caf\ufffd.pdf"),
    ],
)
def test_a_name_that_is_no_text_is_found_by_what_the_index_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: bytes, indexed: str
) -> None:
    file = put(tmp_path, os.fsdecode(name))
    # Another one, which the index would call the same.
    put(tmp_path, os.fsdecode(name.replace(b"\xe9", b"\xe8")), file.read_bytes()[::-1])
    file.write_bytes(PDF)
    assert Originals(tmp_path).find(record(indexed)) == file
    response = client_of(Originals(tmp_path), record(indexed), monkeypatch).get("/originals/d%2F1")
    assert (response.status_code, response.content) == (200, PDF)
    assert response.headers["content-disposition"].startswith("inline; filename")
    assert Originals(tmp_path).find(record("caf\ufffd\ufffd.pdf")) is None


def test_hashes_are_kept_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(tmp_path, "a/pump.pdf")
    originals, read = Originals(tmp_path), []
    digest = hashlib.file_digest

    def count(*arguments: Any) -> Any:
        read.append(arguments)
        return digest(*arguments)

    monkeypatch.setattr(hashlib, "file_digest", count)
    monkeypatch.setattr(f"{original_routes.__module__}.MAX_KNOWN", 2)
    for times in range(2):
        assert originals.find(record()) == file
        assert len(read) == 1, times
    for number in range(2):
        put(tmp_path, f"{number}.pdf")
        originals.find(record(f"{number}.pdf"))
    originals.find(record())
    assert len(read) == 4
    assert MAX_KNOWN == 10_000


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        *(
            (kind, True)
            for kind in ("application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp")
        ),
        *((kind, False) for kind in ("text/html", "image/svg+xml", "text/plain", "text/markdown")),
    ],
)
def test_only_what_runs_nothing_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, shown: bool
) -> None:
    put(tmp_path, "a/pump.pdf")
    client = client_of(Originals(tmp_path), record(kind=kind), monkeypatch)
    response = client.get("/originals/d%2F1")
    assert (response.status_code, response.content) == (200, PDF)
    assert response.headers["content-type"] == (kind if shown else "application/octet-stream")
    disposition = "inline" if shown else "attachment"
    assert response.headers["content-disposition"] == f'{disposition}; filename="pump.pdf"'
    assert response.headers["etag"] == f'"{record().sha256}"'


def test_a_part_can_be_had_and_what_is_not_there_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(tmp_path, "a/pump.pdf")
    client = client_of(Originals(tmp_path), record(), monkeypatch)
    part = client.get("/originals/d/1", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"%PDF")
    assert "no document with this id" in client.get("/originals/d").json()["detail"]
    file.unlink()
    gone = client.get("/originals/d/1")
    assert (gone.status_code, gone.json()["detail"]) == (
        404,
        "The server does not have the file of this document.",
    )


def test_the_environment_names_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("ORIGINALS", raising=False)
    assert Originals.open().find(record()) is None
    assert caplog.messages == ["no files are sent: ORIGINALS is not set"]
    monkeypatch.setenv("ORIGINALS", str(tmp_path))
    file = put(tmp_path, "a/pump.pdf")
    assert Originals.open().find(record()) == file
    monkeypatch.setenv("ORIGINALS", str(file))
    with pytest.raises(ConfigurationError, match=r"ORIGINALS: .*pump\.pdf is no folder") as error:
        Originals.open()
    assert error.value.hint == "name a folder with a folder for each source, by its name"

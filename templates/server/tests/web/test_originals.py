"""Files of documents: only those that were indexed, byte for byte, and only from the folder."""

import base64
import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.index.documents import DocumentRecord
from foundry.runtime.index.records import Place
from foundry.runtime.web.notebooks import read_picture
from foundry.runtime.web.originals import original_routes
from foundry.runtime.web.pictures import MAX_PACKED_BYTES, find_picture, names_picture
from foundry.runtime.web.problems import FAILURES, answer_failure
from foundry.runtime.web.source_files import MAX_KNOWN, Originals

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


def client_of(
    originals: Originals, document: DocumentRecord, patch: Any, texts: Mapping[str, str] = {}
) -> TestClient:
    documents = SimpleNamespace(find=lambda name: document if name == document.id else None)
    chunks = {one: SimpleNamespace(document_id="d/1", text=text) for one, text in texts.items()}
    index = SimpleNamespace(part=lambda _kind: documents, find_chunk=chunks.get)
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
    # The content changes, although size and name stay the same, and is then restored.
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
    # A different file, which the index would store under the same name.
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
    monkeypatch.setattr(f"{Originals.__module__}.MAX_KNOWN", 2)
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
    ("kind", "sent", "sandboxed"),
    [
        *(
            (kind, kind, False)
            for kind in ("application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp")
        ),
        *((kind, kind, True) for kind in ("text/html", "application/xhtml+xml", "image/svg+xml")),
        *(
            (kind, "text/plain; charset=utf-8", True)
            for kind in ("text/plain", "text/markdown", "text/x-javascript", "application/json")
        ),
        *(
            (kind, "application/octet-stream", None)
            for kind in ("application/epub+zip", "application/vnd.ms-excel", "message/rfc822", "")
        ),
    ],
)
def test_what_is_shown_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, sent: str, sandboxed: bool | None
) -> None:
    put(tmp_path, "a/pump.pdf")
    client = client_of(Originals(tmp_path), record(kind=kind), monkeypatch)
    response = client.get("/originals/d%2F1")
    assert (response.status_code, response.content) == (200, PDF)
    assert response.headers["content-type"] == sent
    disposition = "attachment" if sandboxed is None else "inline"
    assert response.headers["content-disposition"] == f'{disposition}; filename="pump.pdf"'
    policy = response.headers.get("content-security-policy", "")
    assert policy.startswith("sandbox; default-src 'none'") == (sandboxed is True)
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
    assert response.headers["etag"] == f'"{record().sha256}"'


@pytest.mark.parametrize(
    ("content", "charset"),
    [
        (b"", "utf-8"),
        (("caf\u00e9 " * 20_000).encode("utf-8"), "utf-8"),
        (b"x" + ("\u20ac" * 40_000).encode("utf-8"), "utf-8"),
        ("caf\u00e9".encode("latin-1"), "windows-1252"),
        ("caf\u00e9".encode("utf-16"), "utf-16"),
    ],
)
def test_text_is_sent_with_its_charset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, charset: str
) -> None:
    put(tmp_path, "a/pump.txt", content)
    document = record("a/pump.txt", content, "text/plain")
    response = client_of(Originals(tmp_path), document, monkeypatch).get("/originals/d%2F1")
    assert response.headers["content-type"] == f"text/plain; charset={charset}"


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
    assert caplog.messages == ["original files are not available: ORIGINALS is not set"]
    monkeypatch.setenv("ORIGINALS", str(tmp_path))
    file = put(tmp_path, "a/pump.pdf")
    assert Originals.open().find(record()) == file
    monkeypatch.setenv("ORIGINALS", str(file))
    with pytest.raises(ConfigurationError, match=r"pump\.pdf is not a folder") as error:
        Originals.open()
    assert error.value.hint == "set it to a folder that has a subfolder named after each source"


def test_the_environment_names_the_folder_of_each_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(tmp_path, "apart/a/pump.pdf")
    put(tmp_path, "other/a/pump.pdf")
    named = {"manuals": str(tmp_path / "apart"), "notes": str(tmp_path / "other")}
    monkeypatch.setenv("ORIGINALS", json.dumps(named))
    originals = Originals.open()
    assert originals.find(record()) == file
    assert originals.has_files_of("manuals")
    assert not originals.has_files_of("elsewhere")
    file.unlink()
    assert originals.find(record()) is None
    for wrong in ("{", '{"manuals": 1}', "{1: 2}"):
        monkeypatch.setenv("ORIGINALS", wrong)
        with pytest.raises(ConfigurationError, match="is not JSON"):
            Originals.open()


PNG = b"\x89PNG\r\n\x1a\n and more"
SVG = b"<?xml version='1.0'?>\n<!-- by hand --><svg xmlns='http://www.w3.org/2000/svg'/>"


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("plan.png", "a/plan.png"),
        ("./plan.png?raw=true#top", "a/plan.png"),
        ("../pictures/plan.png", "pictures/plan.png"),
        ("two%20words.png", "a/two words.png"),
        ("100%25.png", "a/100%25.png"),
        ("/img/plan.png", "static/img/plan.png"),
        ("/img/plan.png", "img/plan.png"),
        ("pictures/plan.png", "pictures/plan.png"),
        ("plan.png", "deep/below/plan.png"),
        ("of/plan.png", "modules/images/of/plan.png"),
        ("plan.svg", "a/plan.svg"),
    ],
)
def test_a_picture_lies_in_the_folder_of_its_source(tmp_path: Path, target: str, file: str) -> None:
    path = put(tmp_path, f"manuals/{file}", SVG if file.endswith("svg") else PNG)
    kind = "image/svg+xml" if file.endswith("svg") else "image/png"
    for originals in (Originals(tmp_path), Originals({"manuals": tmp_path / "manuals"})):
        document = record("modules/pages/a/pump.pdf" if "modules" in file else "a/pump.pdf")
        assert find_picture(originals, document, target) == (path, kind)


@pytest.mark.parametrize(
    ("target", "content"),
    [
        ("../../outside.png", PNG),
        ("/../outside.png", PNG),
        ("..%2F..%2Foutside.png", PNG),
        ("../../other/plan.png", PNG),
        ("link.png", PNG),
        (".hidden.png", PNG),
        (".git/plan.png", PNG),
        ("text.png", b"secret = 1"),
        ("page.svg", b"<html><svg></svg>"),
        ("https://example.org/plan.png", PNG),
        ("", PNG),
        ("nul\0.png", PNG),
        ("x" * 5_000, PNG),
    ],
)
def test_what_is_no_picture_of_the_source_is_not_found(
    tmp_path: Path, target: str, content: bytes
) -> None:
    outside = put(tmp_path, "outside.png", PNG)
    put(tmp_path, "other/plan.png", PNG)
    for name in (".hidden.png", ".git/plan.png", "text.png", "page.svg"):
        put(tmp_path, f"manuals/a/{name}", content)
    (tmp_path / "manuals/a/link.png").symlink_to(outside)
    for originals in (
        Originals(tmp_path / "manuals"),
        Originals({"manuals": tmp_path / "manuals"}),
    ):
        assert find_picture(originals, record(), target) is None
    assert find_picture(Originals(None), record(), target) is None


def test_a_passage_has_to_show_the_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "manuals/a/plan.png", PNG)
    put(tmp_path, "manuals/a/other.png", PNG)
    texts = {"c/1": "See ![the plan](plan.png) and [another](other.png)."}
    client = client_of(Originals(tmp_path), record(), monkeypatch, texts)
    shown = client.get("/pictures", params={"chunk": "c/1", "target": "plan.png"})
    assert (shown.status_code, shown.content) == (200, PNG)
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert shown.headers["cross-origin-resource-policy"] == "same-origin"
    again = {"If-None-Match": shown.headers["etag"]}
    kept = client.get("/pictures", params={"chunk": "c/1", "target": "plan.png"}, headers=again)
    assert kept.status_code == 304
    for chunk, target in (("c/1", "other.png"), ("c/2", "plan.png"), ("c/1", "x" * 2_000)):
        asked = client.get("/pictures", params={"chunk": chunk, "target": target})
        assert asked.status_code in {404, 422}, (chunk, target)


def test_a_picture_may_lie_in_the_file_of_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(file := tmp_path / "book.epub", "w") as book:
        book.writestr("OEBPS/images/plan.png", PNG)
        book.writestr("OEBPS/secret.png", b"not a picture")
        book.writestr("OEBPS/large.png", PNG + bytes(MAX_PACKED_BYTES), zipfile.ZIP_DEFLATED)
    document = record("book.epub", file.read_bytes(), "application/epub+zip")
    names = ("../images/plan.png", "secret.png", "large.png", "none.png")
    text = "".join(f"![]({name})" for name in names)
    client = client_of(Originals({"manuals": tmp_path}), document, monkeypatch, {"c/1": text})
    shown = client.get("/pictures", params={"chunk": "c/1", "target": "../images/plan.png"})
    assert (shown.status_code, shown.content) == (200, PNG)
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    for target in (*names[1:], "images/plan.png"):
        asked = client.get("/pictures", params={"chunk": "c/1", "target": target})
        assert asked.status_code == 404, target
    file.write_bytes(file.read_bytes() + b"changed")
    again = client.get("/pictures", params={"chunk": "c/1", "target": "../images/plan.png"})
    assert again.status_code == 404


def test_a_picture_may_lie_in_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = base64.b64encode(PNG).decode()
    outputs = [{"data": {"image/png": [stored[:9], stored[9:]]}}, {"png": stored}]
    outputs += [{"data": {"image/svg+xml": ["<svg>", "</svg>"]}}, {"data": {"text/plain": "x"}}]
    cells = [
        {"cell_type": "markdown", "attachments": {"a b.png": {"image/png": stored}}},
        {"cell_type": "code", "outputs": outputs},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    (tmp_path / "cell-2").mkdir()
    put(tmp_path, "cell-2/output-4.png", b"GIF89a")
    document = record("a.ipynb", (tmp_path / "a.ipynb").read_bytes(), "application/x-ipynb+json")
    found = ["cell-1/a%20b.png", *(f"cell-2/output-{each}" for each in ("1.png", "2.png", "3.svg"))]
    missing = ["cell-1/b.png", "cell-9/a.png", "cell-0/output-1.png", "cell-2/output-9.png"]
    text = " ".join(f"![]({target})" for target in [*found, *missing])
    client = client_of(Originals({"manuals": tmp_path}), document, monkeypatch, {"c/1": text})
    for target, content in zip(found, [PNG, PNG, PNG, b"<svg></svg>"], strict=True):
        shown = client.get("/pictures", params={"chunk": "c/1", "target": target})
        assert (shown.status_code, shown.content) == (200, content), target
    for target in missing:
        asked = client.get("/pictures", params={"chunk": "c/1", "target": target})
        assert asked.status_code == 404, target


def test_a_notebook_is_parsed_again_only_after_a_change(tmp_path: Path) -> None:
    file, shown = tmp_path / "a.ipynb", []
    for content, nanoseconds in ((b"1st", 1), (b"2nd", 1), (b"3rd", 2)):
        stored = base64.b64encode(content).decode()
        cells = [{"outputs": [{"data": {"image/png": stored}}]}]
        file.write_text(json.dumps({"cells": cells}), encoding="utf-8")
        os.utime(file, ns=(nanoseconds, nanoseconds))
        shown.append(read_picture(file, "cell-1/output-1.png", MAX_PACKED_BYTES))
    assert shown == [b"1st", b"1st", b"3rd"]
    assert read_picture(file, "cell-1/output-1.png", 9) is None


def test_pictures_are_written_in_several_ways() -> None:
    for text in (
        "![a](b.png)",
        '![](<b.png> "t")',
        "![[b.png]]",
        "![[b.png|100]]",
        "![a](b.png =1x)",
    ):
        assert names_picture(text, "b.png"), text
    for text in ("[a](b.png)", "b.png", "![a](b.png.svg)", "[[b.png]]", "![a](a/b.png)"):
        assert not names_picture(text, "b.png"), text


LONG = bytes(range(256)) * 8
ETAG = f'"{hashlib.sha256(LONG).hexdigest()}"'
OLD, NEW = "Mon, 01 Jan 2001 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    file = put(tmp_path, "a/pump.pdf", LONG)
    os.utime(file, (1_500_000_000, 1_500_000_000))
    return client_of(Originals(tmp_path), record(content=LONG), monkeypatch)


SAME = "Fri, 14 Jul 2017 02:40:00 GMT"
"""The modification time of the file."""


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"If-None-Match": ETAG}, 304),
        ({"If-None-Match": f"W/{ETAG}"}, 304),
        ({"If-None-Match": f'"x", {ETAG}'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"x"'}, 200),
        ({"If-Modified-Since": SAME}, 304),
        ({"If-Modified-Since": NEW}, 304),
        ({"If-Modified-Since": OLD}, 200),
        ({"If-Modified-Since": "yesterday"}, 200),
        # The entity tag takes precedence over the time.
        ({"If-None-Match": '"x"', "If-Modified-Since": NEW}, 200),
        ({"If-None-Match": ETAG, "If-Modified-Since": OLD}, 304),
        ({"If-Match": ETAG}, 200),
        ({"If-Match": "*"}, 200),
        ({"If-Match": '"x"'}, 412),
        ({"If-Match": f"W/{ETAG}"}, 412),
        ({"If-Unmodified-Since": SAME}, 200),
        ({"If-Unmodified-Since": OLD}, 412),
        # If-None-Match takes precedence over Range.
        ({"If-None-Match": ETAG, "Range": "bytes=0-9"}, 304),
    ],
)
def test_what_a_client_has_is_not_sent_again(
    client: TestClient, fields: dict[str, str], status: int
) -> None:
    response = client.get("/originals/d/1", headers=fields)
    assert response.status_code == status
    if status == 412:
        assert response.headers["content-type"] == "application/problem+json"
        return
    assert response.content == (LONG if status == 200 else b"")
    assert (response.headers["etag"], response.headers["last-modified"]) == (ETAG, SAME)


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("bytes=0-9", LONG[:10]),
        ("BYTES=0-9", LONG[:10]),
        ("bytes= 0-9 ", LONG[:10]),
        ("bytes=5-5", LONG[5:6]),
        ("bytes=2000-", LONG[2000:]),
        ("bytes=2000-9999", LONG[2000:]),
        ("bytes=-48", LONG[-48:]),
        ("bytes=-9999", LONG),
        # Of several ranges, only the satisfiable ones are sent.
        ("bytes=0-9,9999-", LONG[:10]),
        ("bytes=0-9,-0", LONG[:10]),
    ],
)
def test_a_range_is_sent_alone(client: TestClient, written: str, sent: bytes) -> None:
    response = client.get("/originals/d/1", headers={"Range": written})
    assert (response.status_code, response.content) == (206, sent)
    start = LONG.index(sent) if len(sent) > 1 else 5
    if sent == LONG[-48:] or sent == LONG[2000:]:
        start = len(LONG) - len(sent)
    end = start + len(sent) - 1
    assert response.headers["content-range"] == f"bytes {start}-{end}/{len(LONG)}"


def test_several_ranges_are_sent_in_parts(client: TestClient) -> None:
    response = client.get("/originals/d/1", headers={"Range": "bytes=0-1, 100-102"})
    assert response.status_code == 206
    assert response.headers["content-type"].startswith("multipart/byteranges; boundary=")
    assert b"bytes 0-1/2048\r\n\r\n\x00\x01\r\n" in response.content
    assert b"bytes 100-102/2048\r\n\r\ndef\r\n" in response.content


@pytest.mark.parametrize(
    "written",
    [
        *("items=0-9", "pages=1", "lines", "", "=0-9", "bytes", "bytes=", "bytes=,", "bytes=-"),
        *("bytes=a-b", "bytes=9-0", "bytes=0-9,x", "bytes=0-9;1-2", "bytes=\u0661-2", "bytes=+1-2"),
        *("bytes=" + "0-0," * 200, "bytes=0-" + "9" * 5000, "bytes=1-2-3", "bytes=0x1-2"),
    ],
)
def test_a_range_that_is_not_understood_is_ignored(client: TestClient, written: str) -> None:
    response = client.get("/originals/d/1", headers={"Range": written.encode()})  # type: ignore[dict-item]
    assert (response.status_code, response.content) == (200, LONG)


@pytest.mark.parametrize(
    "written", ["bytes=2048-", "bytes=9999-99999", "bytes=-0", "bytes=2048-,-0"]
)
def test_a_range_that_is_not_there_is_a_problem(client: TestClient, written: str) -> None:
    response = client.get("/originals/d/1", headers={"Range": written})
    assert response.status_code == 416
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["content-range"] == "bytes */2048"
    assert response.json()["status"] == 416


@pytest.mark.parametrize(
    ("condition", "status"),
    [(ETAG, 206), (SAME, 206), ('"x"', 200), (f"W/{ETAG}", 200), (OLD, 200), (NEW, 200)],
)
def test_a_range_of_another_file_is_not_sent(
    client: TestClient, condition: str, status: int
) -> None:
    fields = {"Range": "bytes=0-9", "If-Range": condition}
    response = client.get("/originals/d/1", headers=fields)
    assert (response.status_code, len(response.content)) == (status, 10 if status == 206 else 2048)

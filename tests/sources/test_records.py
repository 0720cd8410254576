"""The records source: CSV and JSONL tables; good rows are delivered, bad ones reported."""

import json
from pathlib import Path
from typing import Any

import pytest

from foundry import readers
from foundry.config.sources import RecordsSource
from foundry.documents import Document, RawDocument, Skipped
from foundry.errors import SourceError
from foundry.sources import records

RUSSIAN = "Старая слива стоит над забором. Осенью мы собираем плоды."


def make_source(path: Path, **values: Any) -> RecordsSource:
    defaults: dict[str, Any] = {
        "name": "faq",
        "id": "id",
        "title": "title",
        "text": "text",
        "url": "url",
        "modified": "modified",
        "tags_column": "tags",
        "metadata": (),
        "text_format": "text",
        "base_url": None,
        "tags": (),
    }
    return RecordsSource(path=path, **{**defaults, **values})


def read_table(
    path: Path, content: str | bytes, **values: Any
) -> tuple[list[RawDocument], list[tuple[str, str]]]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = [each.document for each in records.look(make_source(path, **values), lambda _: None)]
    skipped = [(item.reason, item.detail) for item in found if isinstance(item, Skipped)]
    return [item for item in found if isinstance(item, RawDocument)], skipped


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    return tmp_path / "faq.csv"


@pytest.fixture
def jsonl_file(tmp_path: Path) -> Path:
    return tmp_path / "faq.jsonl"


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_csv_rows_become_documents(csv_file: Path) -> None:
    (document,), skipped = read_table(
        csv_file,
        "\ufeffid,title,text,url,modified,tags,lang\r\n"
        '7,Refunds,"Within ""30"" days,\nalways.",https://x.org/7,2024-05-06,a; b,en\r\n',
        tags=("all",),
        metadata=("lang",),
    )
    assert skipped == []
    assert document == RawDocument(
        source="faq",
        key="7",
        path="7",
        content=b'Within "30" days,\nalways.',
        media_type="text/plain",
        id="7",
        title="Refunds",
        url="https://x.org/7",
        tags=("all", "a", "b"),
        modified="2024-05-06",
        metadata={"lang": "en"},
    )


def test_jsonl_ids_stay_as_written(jsonl_file: Path) -> None:
    rows = '{"_id": 007, "text": "x"}\n{"_id": 1.50, "text": "x"}\n{"_id": 12, "text": "x"}\n'
    documents, skipped = read_table(jsonl_file, rows)
    assert [document.id for document in documents] == ["1.50", "12"]
    assert [reason for reason, _ in skipped] == ["malformed line"]


def test_bad_lines_are_listed_with_their_number(jsonl_file: Path) -> None:
    rows = [
        '{"id": "a", "text": "x"}',
        "not json",
        "[1, 2]",
        '{"text": "x"}',
        '{"id": "b"}',
        '{"id": "a", "text": "again"}',
        '{"id": "c", "text": ["x"]}',
        '{"id": "d", "text": " "}',
        "[" * 100_000,
        '{"id": "\\ud800", "text": "x"}',
        '{"id": ' + "9" * 5_000 + ', "text": "x"}',
        "",
        '{"id": "e", "text": "last, without newline"}',
    ]
    documents, skipped = read_table(jsonl_file, "\n".join(rows))
    assert [document.key for document in documents] == ["a", "9" * 5_000, "e"]
    assert [(reason, detail.split(",")[0].split(":")[0]) for reason, detail in skipped] == [
        ("malformed line", "line 2"),
        ("not a JSON object", "line 3"),
        ("no id", "line 4"),
        ("no text", "line 5"),
        ("duplicate id", "line 6"),
        ("text is not a string", "line 7"),
        ("no text", "line 8"),
        ("malformed line", "line 9"),
        ("id is not valid text", "line 10"),
    ]


@pytest.mark.parametrize("column", ["when", "createdAt", "published_on", "startTime", "date"])
def test_epoch_seconds_in_a_date_column_are_a_date(jsonl_file: Path, column: str) -> None:
    values = [1704412800, 1704412800000, "1704412800", "2024-01-05", 17044128, "abc"]
    table = lines(*({"id": n, "text": "a", column: value} for n, value in enumerate(values)))
    documents, _ = read_table(jsonl_file, table, title=column, modified=None)
    epoch = "2024-01-05T00:00:00+00:00"
    assert [one.title for one in documents] == [epoch] * 3 + ["2024-01-05", "17044128", "abc"]


def test_numbers_in_other_columns_are_not_dates(jsonl_file: Path) -> None:
    table = lines({"id": 1, "text": "a", "isbn": 1704412800})
    documents, _ = read_table(jsonl_file, table, title="isbn")
    assert documents[0].title == "1704412800"


def test_a_title_alone_is_a_document(jsonl_file: Path) -> None:
    rows = [
        {"id": "a", "title": "Less <i>or</i> more", "text": ""},
        {"id": "b", "title": "No text"},
        {"id": "c", "title": " ", "text": "\t"},
        {"id": "d", "title": "", "text": None},
    ]
    documents, skipped = read_table(jsonl_file, lines(*rows), text_format="html")
    assert [(one.key, one.title, one.content, one.media_type) for one in documents] == [
        ("a", "Less <i>or</i> more", b"Less <i>or</i> more", "text/plain"),
        ("b", "No text", b"No text", "text/plain"),
    ]
    assert [reason for reason, _ in skipped] == ["no text"] * 2


def test_ragged_csv_rows_are_listed_and_the_rest_is_read(csv_file: Path) -> None:
    documents, skipped = read_table(csv_file, "id,text\na,x\nb\nc,x,y\n\nd,x\n")
    assert [document.key for document in documents] == ["a", "d"]
    assert skipped == [
        ("ragged row", "row 3: 1 columns, but the header has 2"),
        ("ragged row", "row 4: 3 columns, but the header has 2"),
    ]


def test_csv_fields_may_be_long_and_contain_nul(csv_file: Path) -> None:
    (document,), _ = read_table(csv_file, b"id,text\na\0,b\0" + b"x" * 1_000_000 + b"\n")
    assert (document.key, len(document.content)) == ("a", 1_000_001)


def test_other_delimiters_and_encodings(csv_file: Path) -> None:
    semicolons, _ = read_table(csv_file, 'id;text\n1;"a, b"\n')
    assert semicolons[0].content == b"a, b"
    utf16, _ = read_table(csv_file, "id\ttext\n1\té\n".encode("utf-16"))
    assert utf16[0].content == "é".encode()
    cp1252, _ = read_table(csv_file, "id,title,text\n1,Café,Café\n".encode("cp1252"))
    assert cp1252[0].content == "Café".encode("cp1252")


@pytest.mark.parametrize("name", ["faq.csv", "faq.jsonl"])
def test_titles_tags_and_metadata_are_decoded_like_the_text(tmp_path: Path, name: str) -> None:
    row = {"id": "1", "title": "Слива", "tags": "сад", "who": "Мельник", "text": RUSSIAN}
    table = ",".join(row) + "\n" + ",".join(row.values()) + "\n"
    if name.endswith("jsonl"):
        table = json.dumps(row, ensure_ascii=False) + "\n"
    documents, _ = read_table(tmp_path / name, table.encode("cp1251"), metadata=("who",))
    read = readers.read(documents[0])
    assert isinstance(read, Document)
    assert (read.title, read.tags, read.metadata["who"]) == ("Слива", ("сад",), "Мельник")
    assert read.reading.text == RUSSIAN


def test_a_title_without_text_is_decoded_by_its_own_charset(csv_file: Path) -> None:
    documents, _ = read_table(csv_file, "id,title,text\n1,Café,\n2,Café,Tea\n".encode("cp1252"))
    for each in documents:
        read = readers.read(each)
        assert isinstance(read, Document)
        assert read.title == "Café"


def test_a_lone_surrogate_in_json_survives_for_the_reader(jsonl_file: Path) -> None:
    (document,), _ = read_table(jsonl_file, '{"id": "a", "text": "x\\ud800y"}\n')
    assert document.content == b"x\xed\xa0\x80y"


def test_tags_are_lists_or_separated_strings(jsonl_file: Path) -> None:
    rows = [["a", "b"], "a, b;c", '["a", 1]', None, "[broken"]
    documents, _ = read_table(
        jsonl_file, lines(*({"id": str(n), "text": "x", "tags": t} for n, t in enumerate(rows)))
    )
    assert [document.tags for document in documents] == [
        ("a", "b"),
        ("a", "b", "c"),
        ("a", "1"),
        (),
        ("[broken",),
    ]


def test_metadata_is_strings(jsonl_file: Path) -> None:
    row = {"id": "a", "text": "x", "m": {"b": 1, "a": None}, "n": [1, 2], "o": True, "p": None}
    (document,), _ = read_table(jsonl_file, lines(row), metadata=("m", "n", "o", "p"))
    assert document.metadata == {"m": '{"a": null, "b": "1"}', "n": "1, 2", "o": "true"}


@pytest.mark.parametrize(
    ("url", "base_url", "expected"),
    [
        ("https://x.org/a", "https://y.org", "https://x.org/a"),
        ("a/b", "https://y.org/docs", "https://y.org/docs/a/b"),
        ("a/b", None, None),
        (None, "https://y.org/", "https://y.org/k%2F1"),
        (None, None, None),
        ("javascript:alert(1)", "https://y.org", None),
        ("java\nscript:alert(1)", "https://y.org", None),
        ("https://user:secret@x.org/a", "https://y.org", None),
        ("//user:secret@x.org/a", "https://y.org", None),
        ("https:a", None, None),
        ("https://x.org/a b?c=d#e f", None, "https://x.org/a b?c=d#e f"),
        ("http://[", "https://y.org", None),
    ],
)
def test_urls(jsonl_file: Path, url: str | None, base_url: str | None, expected: str) -> None:
    row = {"id": "k/1", "text": "x", "url": url}
    (document,), _ = read_table(jsonl_file, lines(row), base_url=base_url)
    assert document.url == expected


def test_text_format_determines_the_media_type(jsonl_file: Path) -> None:
    row = lines({"id": "a", "text": "x"})
    media_types = [
        read_table(jsonl_file, row, text_format=text_format)[0][0].media_type
        for text_format in ("text", "markdown", "html")
    ]
    assert media_types == ["text/plain", "text/markdown", "text/html"]


@pytest.mark.parametrize("name", ["faq.csv", "faq.jsonl"])
def test_an_unknown_column_is_an_error_that_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    table = "id,body\n1,x\n" if name.endswith("csv") else lines({"id": 1, "body": "x"})
    with pytest.raises(SourceError, match="text = 'text'") as caught:
        read_table(tmp_path / name, table)
    assert name in caught.value.message
    assert "'id', 'body'" in (caught.value.hint or "")
    with pytest.raises(SourceError, match="title = 'heading'"):
        read_table(tmp_path / name, table, text="body", title="heading")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"gone\.csv"):
        list(records.look(make_source(tmp_path / "gone.csv"), lambda _: None))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_may_be_in_any_unicode_encoding_and_blank_ones_are_skipped(
    jsonl_file: Path, encoding: str
) -> None:
    rows = '\u3000\n{"id": "a", "text": "\u00e9\u65e5"}\n \t\n["b"]\n'.encode(encoding)
    documents, skipped = read_table(jsonl_file, rows)
    assert [document.content.decode() for document in documents] == ["\u00e9\u65e5"]
    assert skipped == [("not a JSON object", "line 4")]


def test_a_too_long_line_is_skipped(jsonl_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foundry.sources.tables.MAX_ROW_SIZE", 100)
    rows = lines({"id": "a", "text": "x" * 1_000}, {"id": "b", "text": "x"})
    documents, skipped = read_table(jsonl_file, rows)
    assert [document.key for document in documents] == ["b"]
    assert skipped == [("malformed line", "line 1: longer than 100 bytes")]


@pytest.mark.parametrize("key", [".", ".."])
def test_an_id_that_cannot_be_in_a_url_is_skipped(jsonl_file: Path, key: str) -> None:
    documents, skipped = read_table(
        jsonl_file, lines({"id": key, "text": "x"}, {"id": "...", "text": "x"})
    )
    assert [document.key for document in documents] == ["..."]
    assert skipped == [("id has no address", f"line 1, id {key}")]

"""The outline of source code: definitions with their paths, and bounds on hostile files."""

import pytest
from configurations import chunking
from document_files import read_document

from foundry.chunking import chunk
from foundry.documents import Document, RawDocument
from foundry.readers import read
from foundry.readers.code import outline as code_outline
from foundry.readers.sandbox.processes import Sandbox


def outline(language: str, text: str) -> list[tuple[int, str, str]]:
    reading = code_outline.read(language, text.encode())
    assert reading.text == text
    lines = [(h.level, h.text, text[h.start :].lstrip().split("\n")[0]) for h in reading.headings]
    return [(level, name, line.strip()) for level, name, line in lines]


def test_text_after_a_definition_belongs_to_the_enclosing_section(sandbox: Sandbox) -> None:
    text = "class A:\n    def m(self):\n        pass\n\n    late = 1\n\n\nprint(A)\n"
    assert outline("python", text) == [
        (1, "A", "class A:"),
        (2, "m", "def m(self):"),
        (2, "", "late = 1"),
        (1, "", "print(A)"),
    ]
    chunks = chunk(read_document(text, "a.py", sandbox), chunking("headings", 1200, 0))
    assert [(piece.heading_path, piece.text) for piece in chunks] == [
        (("A",), "class A:"),
        (("A", "m"), "    def m(self):\n        pass"),
        (("A",), "    late = 1"),
        ((), "print(A)"),
    ]


def test_closing_lines_have_no_section_of_their_own() -> None:
    text = "module M\n  def a\n    1\n  end\nend\n"
    assert outline("ruby", text) == [(1, "M", "module M"), (2, "a", "def a")]


def test_assignments_name_definitions() -> None:
    text = (
        "export const run = async () => {\n  go();\n};\nmodule.exports.stop = function () {};\n"
        "Store.prototype.size = function () {};\nconst plain = 3;\n"
    )
    assert [(level, name) for level, name, _ in outline("javascript", text)] == [
        (1, "run"),
        (1, "stop"),
        (1, "Store"),
        (2, "size"),
        (1, ""),
    ]


def test_inner_functions_are_sections_only_in_long_functions() -> None:
    inner = "    def inner():\n" + "        call_something()\n" * 20
    assert [name for _, name, _ in outline("python", f"def outer():\n{inner}")] == ["outer"]
    names = [name for _, name, _ in outline("python", f"def outer():\n{inner * 3}")]
    assert names == ["outer", "inner", "inner", "inner"]


def test_long_functions_are_cut_between_statements(sandbox: Sandbox) -> None:
    statement = "    if ready:\n        first()\n\n        second()\n"
    document = read_document("def f():\n" + statement * 40, "a.py", sandbox)
    chunks = chunk(document, chunking("code", 300, 0))
    assert len(chunks) > 5
    assert all(piece.heading_path == ("f",) for piece in chunks)
    assert all(piece.text.startswith(("def f", "    if ready")) for piece in chunks)
    assert all(piece.text.endswith("second()") for piece in chunks)


def test_offsets_are_in_characters() -> None:
    text = "# \u00e9\U0001f600\u4e2d\ndef f():\n    return '\U0001f600'\n\n\nx = '\u4e2d'\n"
    assert outline("python", text)[-1] == (1, "", "x = '\u4e2d'")


def test_c_headers_with_classes_are_read_as_cpp() -> None:
    text = "class Store {\n  int n;\n  int size() const { return 1; }\n};\n"
    assert [name for _, name, _ in outline("c", text)] == ["Store", "size"]


@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_code_that_breaks_the_parser_is_read_as_text(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(code_outline, "_parse", fail)
    document = read(RawDocument("s", "a.py", "a.py", b"def f():\n    pass\n"), is_worker=True)
    assert isinstance(document, Document)
    assert document.reading.headings == ()
    assert document.reading.text.startswith("def f")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "(" * 100_000),
        ("python", "[" * 50_000 + "]" * 50_000),
        ("javascript", "function f(){" * 20_000),
        ("java", "class A{" * 20_000),
        ("cpp", "if(a){" * 20_000),
        ("rust", "{" * 100_000),
    ],
)
def test_deep_nesting_does_not_recurse(language: str, text: str) -> None:
    assert code_outline.read(language, text.encode()).text == text

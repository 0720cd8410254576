"""Source code: definitions with their paths, in every language, and bounds on hostile files."""

import re
from types import SimpleNamespace

import pytest
from configurations import chunking
from conftest import MakeProject

from foundry.chunking import chunk
from foundry.config.file import Strategy
from foundry.readers import read
from foundry.readers.code import outline as code_outline
from foundry.readers.code.languages import GRAMMARS
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart
from foundry.records import Document, RawDocument, Skipped
from foundry.runtime.index.documents import join_chunks

EXAMPLES = {
    "a.py": (
        "class Store:\n    '''Keeps.'''\n\n    @property\n    # How many.\n    def size(self):\n"
        "        return 1\n",
        ("Store", "size"),
        "@property",
    ),
    "a.js": (
        "export class Store {\n  items = [];\n\n  /** How many. */\n  size() {\n    return 1;\n"
        "  }\n}\n",
        ("Store", "size"),
        "/** How many. */",
    ),
    "a.ts": (
        "namespace Shop {\n  export class Store {\n    n: number;\n    @dec()\n    private size():"
        " number {\n      return 1;\n    }\n  }\n}\n",
        ("Shop", "Store", "size"),
        "@dec()",
    ),
    "a.tsx": (
        "class Store {\n  n = 1;\n  size(): any {\n    return <div>1</div>;\n  }\n}\n",
        ("Store", "size"),
        "size(): any",
    ),
    "a.go": (
        "package shop\n\ntype Store struct{}\n\n// Size says how many.\nfunc (s *Store) Size() int"
        " {\n\treturn 1\n}\n",
        ("Store", "Size"),
        "// Size says",
    ),
    "a.rs": (
        "struct Store;\n\nimpl<T> Keeps<T> for Store {\n    const N: u8 = 1;\n\n    /// How many.\n"
        "    #[inline]\n    fn size(&self) -> u8 {\n        1\n    }\n}\n",
        ("Store", "size"),
        "/// How many.",
    ),
    "a.java": (
        "package shop;\n\npublic class Store {\n  int n;\n\n  /** How many. */\n  @Override\n"
        "  int size() {\n    return 1;\n  }\n}\n",
        ("Store", "size"),
        "/** How many. */",
    ),
    "a.c": (
        "#include <stdio.h>\n\n/* How many. */\nstatic int *size(int n) {\n  return 0;\n}\n",
        ("size",),
        "/* How many. */",
    ),
    "a.cpp": (
        "namespace shop {\ntemplate <class T>\nclass Store {\n  int n;\n  // How many.\n  int"
        " size() const {\n    return 1;\n  }\n};\n}\n",
        ("shop", "Store", "size"),
        "// How many.",
    ),
    "a.rb": (
        "module Shop\n  class Store\n    attr_reader :n\n\n    # How many.\n    def size\n      1\n"
        "    end\n  end\nend\n",
        ("Shop", "Store", "size"),
        "# How many.",
    ),
    "a.sh": ("#!/bin/sh\n\n# How many.\nsize() {\n  echo 1\n}\n", ("size",), "# How many."),
    "a.cs": (
        "namespace Shop {\n  class Store {\n    int n;\n    /// How many.\n    [Pure]\n    public"
        " int Size<T>() => 1;\n  }\n}\n",
        ("Shop", "Store", "Size"),
        "/// How many.",
    ),
    "a.php": (
        "<?php\nnamespace Shop;\n\nclass Store {\n  private $n;\n\n  /** How many. */\n  public"
        " function size() {\n    return 1;\n  }\n}\n",
        ("Store", "size"),
        "/** How many. */",
    ),
}


def read_code(text: str, name: str, sandbox: Sandbox) -> Document:
    result = read_apart(RawDocument("s", name, name, text.encode()), sandbox)
    assert isinstance(result, Document), result
    return result


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as opened:
        yield opened


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_method_is_a_chunk_under_its_path_with_its_comment(name: str, sandbox: Sandbox) -> None:
    text, path, beginning = EXAMPLES[name]
    document = read_code(text, name, sandbox)
    chunks = chunk(document, chunking("headings", 1200, 0))
    (method,) = [piece for piece in chunks if piece.heading_path == path]
    assert method.text.lstrip().startswith(beginning)
    assert "1" in method.text or "0" in method.text
    assert document.title == name


def test_every_grammar_has_an_example() -> None:
    with Sandbox() as sandbox:
        readers = {read_code(text, name, sandbox).reader for name, (text, *_) in EXAMPLES.items()}
    assert {f"code-{language}/1" for language in GRAMMARS} - readers == {"code-tsx/1"}


def outline(language: str, text: str) -> list[tuple[int, str, str]]:
    reading = code_outline.read(language, text.encode())
    assert reading.text == text
    lines = [(h.level, h.text, text[h.start :].lstrip().split("\n")[0]) for h in reading.headings]
    return [(level, name, line.strip()) for level, name, line in lines]


def test_text_after_a_definition_belongs_to_what_is_around_it(sandbox: Sandbox) -> None:
    text = "class A:\n    def m(self):\n        pass\n\n    late = 1\n\n\nprint(A)\n"
    assert outline("python", text) == [
        (1, "A", "class A:"),
        (2, "m", "def m(self):"),
        (2, "", "late = 1"),
        (1, "", "print(A)"),
    ]
    chunks = chunk(read_code(text, "a.py", sandbox), chunking("headings", 1200, 0))
    assert [(piece.heading_path, piece.text) for piece in chunks] == [
        (("A",), "class A:"),
        (("A", "m"), "    def m(self):\n        pass"),
        (("A",), "    late = 1"),
        ((), "print(A)"),
    ]


def test_what_only_closes_is_no_text_of_its_own() -> None:
    text = "module M\n  def a\n    1\n  end\nend\n"
    assert outline("ruby", text) == [(1, "M", "module M"), (2, "a", "def a")]


def test_names_that_are_given_by_assignment() -> None:
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


def test_functions_within_a_long_function_only() -> None:
    inner = "    def inner():\n" + "        call_something()\n" * 20
    assert [name for _, name, _ in outline("python", f"def outer():\n{inner}")] == ["outer"]
    names = [name for _, name, _ in outline("python", f"def outer():\n{inner * 3}")]
    assert names == ["outer", "inner", "inner", "inner"]


def test_a_long_function_is_cut_between_statements(sandbox: Sandbox) -> None:
    statement = "    if ready:\n        first()\n\n        second()\n"
    document = read_code("def f():\n" + statement * 40, "a.py", sandbox)
    chunks = chunk(document, chunking("code", 300, 0))
    assert len(chunks) > 5
    assert all(piece.heading_path == ("f",) for piece in chunks)
    assert all(piece.text.startswith(("def f", "    if ready")) for piece in chunks)
    assert all(piece.text.endswith("second()") for piece in chunks)


def test_offsets_are_in_characters() -> None:
    text = "# \u00e9\U0001f600\u4e2d\ndef f():\n    return '\U0001f600'\n\n\nx = '\u4e2d'\n"
    assert outline("python", text)[-1] == (1, "", "x = '\u4e2d'")


def test_headers_are_read_as_the_language_that_fits() -> None:
    text = "class Store {\n  int n;\n  int size() const { return 1; }\n};\n"
    assert [name for _, name, _ in outline("c", text)] == ["Store", "size"]


def test_minified_code_is_skipped_and_said_to_be() -> None:
    content = b"function a(){return 1};" * 900_000
    result = read(RawDocument("s", "a.min.js", "a.min.js", content))
    assert isinstance(result, Skipped)
    assert result.reason == "minified code"


@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_code_that_its_parser_cannot_take_is_text(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(code_outline, "_parse", fail)
    document = read(RawDocument("s", "a.py", "a.py", b"def f():\n    pass\n"), is_worker=True)
    assert isinstance(document, Document)
    assert document.reading.headings == ()
    assert document.reading.text.startswith("def f")


@pytest.mark.parametrize("strategy", ["headings", "recursive", "code", "parent"])
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_lines_of_a_file_come_together_again(
    name: str, strategy: Strategy, sandbox: Sandbox
) -> None:
    text = EXAMPLES[name][0] * 3
    chunks = chunk(read_code(text, name, sandbox), chunking(strategy, 100, 0))
    joined = "".join(
        join_chunks(SimpleNamespace(text=c.text, position=c.position()) for c in chunks)
    )
    lines = [line for line in text.splitlines() if re.search(r"\w", line)]
    assert [line for line in joined.splitlines() if re.search(r"\w", line)] == lines


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


def test_a_definition_is_found_by_its_names(make_project: MakeProject) -> None:
    others = "".join(f"def f{n}(store):\n    return store.size, {n}\n\n\n" for n in range(20))
    files = {"shop.py": EXAMPLES["a.py"][0], "shop.cpp": EXAMPLES["a.cpp"][0], "uses.py": others}
    project = make_project(files)
    project.succeed("build")
    for query, path in {
        "Store.size": "shop.py",
        "shop.Store.size": "shop.py",
        "shop::Store::size": "shop.cpp",
    }.items():
        first = project.ask(query)["results"][0]
        assert first["path"] == path
        assert first["section"][-2:] == ["Store", "size"]

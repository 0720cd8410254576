"""In every language, definitions are found with their paths, and no line is lost."""

import re
from types import SimpleNamespace

import pytest
from configurations import chunking
from conftest import MakeProject
from document_files import read_document

from foundry.chunking import chunk
from foundry.config.file import Strategy
from foundry.readers.code.languages import GRAMMARS
from foundry.readers.sandbox.processes import Sandbox
from foundry.runtime.index.documents import join_chunks

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

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


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_methods_become_chunks_with_their_path_and_comment(name: str, sandbox: Sandbox) -> None:
    text, path, beginning = EXAMPLES[name]
    document = read_document(text, name, sandbox)
    chunks = chunk(document, chunking("headings", 1200, 0))
    (method,) = [piece for piece in chunks if piece.heading_path == path]
    assert method.text.lstrip().startswith(beginning)
    assert "1" in method.text or "0" in method.text
    assert document.title == name


def test_every_grammar_has_an_example(sandbox: Sandbox) -> None:
    readers = {read_document(text, name, sandbox).reader for name, (text, *_) in EXAMPLES.items()}
    assert {f"code-{language}/1" for language in GRAMMARS} - readers == {"code-tsx/1"}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_joined_chunks_restore_the_lines_of_a_file(name: str, sandbox: Sandbox) -> None:
    text = EXAMPLES[name][0] * 3
    document = read_document(text, name, sandbox)
    lines = [line for line in text.splitlines() if re.search(r"\w", line)]
    strategies: tuple[Strategy, ...] = ("headings", "recursive", "code", "parent")
    for strategy in strategies:
        chunks = chunk(document, chunking(strategy, 100, 0))
        joined = "".join(
            join_chunks(SimpleNamespace(text=c.text, position=c.position()) for c in chunks)
        )
        assert [line for line in joined.splitlines() if re.search(r"\w", line)] == lines, strategy


def test_definitions_are_found_by_their_names(make_project: MakeProject) -> None:
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

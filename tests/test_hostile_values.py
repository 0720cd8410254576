"""Texts that would break out of code, markup and data if they were not escaped."""

import ast
import json
import math
import os
import re
import tomllib
import urllib.parse
from collections.abc import Sequence
from pathlib import Path

import jinja2
import pytest
from conftest import CONFIG, MakeProject, Project
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from processes import snapshot
from servers import get, in_checkout, serving

from foundry.features.calls import ASKED, Call, Statement
from foundry.features.snippet import Snippet
from foundry.files import templates_folder
from foundry.rendering.environment import (
    ENCODERS,
    _environment,
    _require_encoded,
    encode_json,
    encode_markdown,
    encode_number,
    encode_python,
    encode_slug,
    encode_toml,
    encode_variable,
)
from foundry.rendering.formatting import parse_back

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

# fmt: off
ALPHABET = [
    '"', "'", '"""', "'''", "\\", '\\"', "\r", "\n", "\r\n", "\x00", "\x0c", "\u2028", "\u2029",
    "\x85", "\u202e", "\ud800", "{{7*7}}", "{% x %}", "${x}", "{0}", "%s", "#", "*/", "</script>",
    "`", "$(id)", "é", "\U0001f600", " ", "", "None", '__import__("os")',
]
# fmt: on
# All texts of one or two entries of ALPHABET, grouped by their first entry.
BEGINNINGS = [[one, *(one + two for two in ALPHABET)] for one in ALPHABET]
STRINGS = [text for texts in BEGINNINGS for text in texts]
OPENINGS = [
    "- a",
    "+ a",
    "* a",
    "1. a",
    "1) a",
    "# a",
    "> a",
    "---",
    "===",
    "    a",
    "\ta",
    "| a |",
]

HOSTILE = (
    "A\"B'C\"\"\"D'''E\\F{{7*7}}{% raw %}${x}%s{0}</script><img src=x onerror=alert(1)>"
    '`$(id)`;"""+__import__(\'os\').system(\'id\')+""" \U0001f600 [x](javascript:y) *z* '
)
CONTROLS = "\u202eBIDI\u2028LINE\x85NEXT\rCR\x0cFF"


def is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


@pytest.mark.parametrize("texts", [*BEGINNINGS, OPENINGS], ids=lambda texts: ascii(texts[0]))
def test_encoders_round_trip(texts: list[str]) -> None:
    for text in texts:
        check_json(text)
        check_python(text)
        check_toml(text)
        check_markdown(text)


@given(st.text(st.characters(exclude_categories=())))
def test_encoders_round_trip_any_text(text: str) -> None:
    check_json(text)
    check_python(text)
    check_toml(text)
    check_markdown(text)


def check_json(text: str) -> None:
    written = encode_json(text)
    assert written.isascii()
    read = json.loads(written)
    assert is_text(read)
    assert read == text or not is_text(text)


def check_python(text: str) -> None:
    source = f"x = {encode_python(text)}\n"
    tree = ast.parse(source.encode("ascii"))
    assert len(tree.body) == 1
    assert ast.literal_eval(tree.body[0].value) == text  # type: ignore[attr-defined]


def check_toml(text: str) -> None:
    source = f"x = {encode_toml(text)}\n".encode()
    expected = text if is_text(text) else "".join(c if is_text(c) else "\ufffd" for c in text)
    assert tomllib.loads(source.decode()) == {"x": expected}


def check_markdown(text: str) -> None:
    encoded = encode_markdown(text)
    assert "\n" not in encoded
    encoded.encode()
    wanted = "".join(c if is_shown(c) else " " for c in text).split()
    for source, block in ((f"{encoded}\n", "paragraph_open"), (f"# {encoded}\n", "heading_open")):
        tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source)
        if not encoded:
            continue
        assert next(token.type for token in tokens) == block
        assert len(tokens) == 3
        children = tokens[1].children or []
        assert {child.type for child in children} <= {"text", "text_special"}, encoded
        assert shown_by(children) == wanted
    cells = MarkdownIt("commonmark").enable("table").parse(f"|a|b|\n|-|-|\n| {encoded} | end |\n")
    first, last = [token.children or [] for token in cells if token.type == "inline"][2:]
    assert (shown_by(first), shown_by(last)) == (wanted, ["end"])


def shown_by(children: Sequence[Token]) -> list[str]:
    return "".join(child.content for child in children).split()


def is_shown(character: str) -> bool:
    import unicodedata

    return unicodedata.category(character)[0] not in "CZ"


@pytest.mark.parametrize("texts", BEGINNINGS, ids=lambda texts: ascii(texts[0]))
def test_names_accept_only_identifiers(texts: list[str]) -> None:
    for text in texts:
        if not re.fullmatch("[a-z0-9]+", text):
            with pytest.raises(ValueError, match="not a slug"):
                encode_slug(text)
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", text):
            with pytest.raises(ValueError, match="not a valid variable name"):
                encode_variable(text)


@pytest.mark.parametrize(
    "value", [True, "1", None, float("nan"), float("inf"), -float("inf"), [1], 1j]
)
def test_number_accepts_only_finite_numbers(value: object) -> None:
    with pytest.raises(ValueError, match="number"):
        encode_number(value)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_number_is_the_same_in_every_syntax(value: float) -> None:
    encoded = encode_number(value)
    assert ast.literal_eval(encoded) == value
    if -(2**63) <= value < 2**63 or isinstance(value, float):
        assert tomllib.loads(f"x = {encoded}") == {"x": value}
        assert json.loads(encoded) == value


TEMPLATES = [
    "{{ title }}",
    "{{ number }}",
    "{{ title | slug | upper }}",
    "{{ (slug | slug) ~ title }}",
    "{{ (slug | slug) + title }}",
    "{% set x %}{{ slug | slug }}{% endset %}{{ x }}",
    "{% for part in parts %}{{ part }}{% endfor %}",
    "{% for part in parts %}{{ loop.index }}{% endfor %}",
    "{{ 'literal' }}",
    "{{ none }}",
    "{{ [] }}",
    "{{ title | safe }}",
    "{{ title | tojson }}",
]


@pytest.mark.parametrize("source", TEMPLATES)
def test_value_without_an_encoder_is_an_error(source: str) -> None:
    values = {"title": "x", "slug": "x", "number": 7, "parts": ["a"]}
    with pytest.raises(ValueError, match="is printed without an encoder"):
        _environment().from_string(source).render(values)


@pytest.mark.parametrize(
    "source",
    ["{{ typo }}", "{{ typo | slug }}", "{% if typo %}{% endif %}", "{{ title.typo | python }}"],
)
def test_undefined_variable_is_an_error(source: str) -> None:
    with pytest.raises(jinja2.UndefinedError):
        _environment().from_string(source).render(title="x")


def test_every_encoder_marks_what_it_encoded() -> None:
    for name, value in (("slug", "a"), ("number", 1), ("python", "a"), ("toml", "a")):
        assert _require_encoded(ENCODERS[name](value)) == ENCODERS[name](value)
    assert set(ENCODERS) == {
        "slug",
        "variable",
        "number",
        "python",
        "toml",
        "json",
        "markdown",
        "snippet",
        "lines",
        "paragraph",
        "statement",
        "option",
        "expression",
        "entry",
        "import",
    }


@pytest.mark.parametrize("text", ["{value}", "a({value})"])
@pytest.mark.parametrize("value", ['"', "os.getcwd()", "A B", [["x("]], {"a": 1}, None, math.nan])
def test_features_accept_only_numbers_and_names(text: str, value: object) -> None:
    with pytest.raises(ValueError):
        ENCODERS["snippet"](Snippet(text, {"value": value}))


def test_numbers_and_names_are_written_as_python() -> None:
    values = {"number": 0.5, "tiers": [(7, 1.5)], "flag": True, "name": "recency", "unused": "("}
    filled = ENCODERS["lines"](Snippet("a({number}, {tiers},\n{flag}, {name}, {{}})", values))
    assert filled == "    a(0.5, [(7, 1.5)],\n    True, recency, {})"


HITS = Call("retrieval.results", "merge_equal_texts", ("hits", "*weights"), ("count",))


def test_calls_are_written_as_python() -> None:
    asked = Call("m", "outer", (ASKED, (HITS,)))
    statement = Statement(("hits", "more"), asked, {"count": [1, 0.5]}, "plain")
    assert ENCODERS["statement"](statement, 8) == (
        "        hits, more = outer(plain, [merge_equal_texts(hits, *weights, count=[1, 0.5])])"
    )
    assert ENCODERS["statement"](Statement((), HITS, {"count": 1}, "query")) == (
        "    merge_equal_texts(hits, *weights, count=1)"
    )


@pytest.mark.parametrize(
    "statement",
    [
        Statement(("a.b",), HITS, {"count": 1}, "query"),
        Statement((), HITS, {"count": "os.getcwd()"}, "query"),
        Statement((), Call("m", "f(1)"), {}, "query"),
        Statement((), Call("m", "f", ("a + b",)), {}, "query"),
        Statement((), Call("m", "f", (ASKED,)), {}, "a b"),
        "hits = 1",
    ],
)
def test_calls_accept_only_names_and_numbers(statement: object) -> None:
    with pytest.raises(ValueError, match=r"^not "):
        ENCODERS["statement"](statement)


@pytest.mark.parametrize("needed", [("a b", ("c",)), ("a", ("c\nimport d",)), ("..a", ("c",))])
def test_imports_of_a_feature_are_names(needed: tuple[str, tuple[str, ...]]) -> None:
    with pytest.raises(ValueError):
        ENCODERS["import"](needed)


def test_python_templates_print_only_names_and_numbers() -> None:
    """Templates must not insert free text into code, not even encoded."""
    import re

    encoders = r"slug|variable|number|snippet|import|paragraph|option|expression"
    encoders += r"|(lines|statement)(\(\d+\))?"
    for path in templates_folder().rglob("*.py.jinja"):
        for expression in re.findall(r"\{\{(.*?)\}\}", path.read_text(encoding="utf-8")):
            assert re.search(rf"\|\s*({encoders})\s*$", expression), (path, expression)


def test_lines_of_json_are_split_at_newlines_only() -> None:
    text = '{"query": "a\u2028b\u0085c"}\n\n{"query": "d"}\n'
    assert parse_back("questions.jsonl", text.encode()) == [
        {"query": "a\u2028b\u0085c"},
        {"query": "d"},
    ]


def write_project(
    make_project: MakeProject, name: str, *, text: str, row: dict[str, object], file: bytes
) -> Project:
    config = f"""
[project]
name = "notes"
title = {encode_toml(text)}
description = {encode_toml("- " + text + CONTROLS)}

[[sources]]
type = "folder"
path = "sources"
include = ["**/*.md"]
tags = [{encode_toml(text)}]

[[sources]]
type = "records"
name = "rows"
path = "sources/rows.jsonl"
metadata = ["note"]

[search]
identifier_patterns = [{encode_toml("^(" + __import__("re").escape(text.strip()) + ")$")}]
"""
    project = make_project(
        {
            "plain.md": f"# {text}\n\nThe zebra eats {text} here.\n\n## Two\n\nMore.\n",
            "rows.jsonl": json.dumps(row) + "\n",
        },
        config=config,
        name=name,
    )
    path = os.fsencode(project.root / "sources") + b"/" + file
    Path(os.fsdecode(path)).write_text("# Okapi\n\nThe okapi sleeps.\n", encoding="utf-8")
    project.succeed("build", "--quiet")
    return project


@pytest.fixture
def hostile(make_project: MakeProject) -> Project:
    row = {
        "id": "row-1" + HOSTILE,
        "title": "Quagga " + HOSTILE,
        "text": "The quagga says " + HOSTILE + CONTROLS + "\ud800 \x00 end",
        "url": "https://example.com/?q=" + HOSTILE + "\ud800",
        "tags": ["t" + HOSTILE, "bad\ud800tag"],
        "note": HOSTILE + "\ud800",
    }
    name = HOSTILE.replace("/", "").encode()[:200] + b"\xff\n.md"
    return write_project(make_project, "hostile", text=HOSTILE, row=row, file=name)


@pytest.mark.slow
def test_code_does_not_depend_on_texts(hostile: Project, make_project: MakeProject) -> None:
    row = {"id": "1", "title": "Quagga", "text": "The quagga says x", "url": "", "note": "x"}
    plain = write_project(make_project, "plain", text="x", row=row, file=b"okapi.md")
    one, two = hostile.export(), plain.export()
    code = [
        {name: what for name, what in snapshot(export).items() if name.endswith(".py")}
        for export in (one, two)
    ]
    assert code[0] == code[1]
    assert len(code[0]) > 30
    different = {
        name
        for name, what in snapshot(one).items()
        if snapshot(two).get(name) != what and "/data/" not in name
    }
    texts = {"README.md", "pyproject.toml", "server.json", "notes/settings.json"}
    assert different == {*texts, "SHA256SUMS", ".generated.json.bz2", "corpus.json"}

    for path in one.rglob("*"):
        if path.suffix in {".py", ".toml", ".json", ".jsonl"}:
            parse_back(path.name, path.read_bytes())
    description = "- " + HOSTILE + CONTROLS
    project = tomllib.loads((one / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    settings_bytes = (one / "notes" / "settings.json").read_bytes()
    settings = json.loads(settings_bytes)
    assert project["description"] == settings["description"] == description
    assert settings["title"] == HOSTILE
    assert settings_bytes.isascii()
    hidden = "\u202e\u2028\x85\r\x0c"
    entry = json.loads((one / "server.json").read_bytes())
    assert entry["title"] == HOSTILE[:97] + "..."
    assert len(entry["description"]) == 100
    for name in ("README.md", "pyproject.toml", "server.json"):
        text = (one / name).read_bytes().decode()
        assert not any(character in text for character in hidden), name

    tokens = MarkdownIt("commonmark").enable("table").parse((one / "README.md").read_text("utf-8"))
    assert [token.type for token in tokens[:4]] == [
        "heading_open",
        "inline",
        "heading_close",
        "paragraph_open",
    ]
    for inline in (tokens[1], tokens[4]):
        assert {child.type for child in inline.children or []} <= {"text", "text_special"}
    shown = "".join(child.content for child in tokens[1].children or [])
    assert shown == " ".join(HOSTILE.split())


@pytest.mark.slow
def test_texts_survive_a_build_and_an_export(hostile: Project) -> None:
    zebra = hostile.ask("zebra")["results"][0]
    # Shortcodes and Markdown tags are removed as markup, except the file name of a picture.
    read = HOSTILE.replace("{% raw %}", "").replace("</script>", " ")
    read = read.replace("<img src=x onerror=alert(1)>", "![](x)")
    assert read.strip() in zebra["text"]
    assert zebra["tags"] == [" ".join(HOSTILE.split())[:100].strip()]
    quagga = hostile.ask("quagga", "--source", "rows")["results"][0]
    assert quagga["text"].startswith("The quagga says " + HOSTILE)
    assert quagga["title"].startswith("Quagga A\"B'C")
    okapi = hostile.ask("okapi")["results"][0]
    assert "\ufffd" in okapi["path"]
    assert "\\x0a" in okapi["path"]
    for hit in (zebra, quagga, okapi):
        written = json.dumps(hit, ensure_ascii=False)
        written.encode()
        assert "\\u0000" not in written
        for name in ("title", "path", "url"):
            assert not hit[name] or hit[name].splitlines() == [hit[name]]
    answer = hostile.ask(HOSTILE)
    assert (answer["mode"], answer["unknown_identifiers"]) == ("keyword", [])

    exported = hostile.export()
    with serving(in_checkout(exported)) as address:
        for wanted, query in ((zebra, "zebra"), (okapi, "okapi")):
            served = get(f"{address}/search?q={query}")["results"][0]
            assert served == wanted
        documents = get(f"{address}/documents?limit=100")["documents"]
        assert {document["title"] for document in documents} >= {quagga["title"], zebra["title"]}
        for document in documents:
            place = urllib.parse.quote(document["id"], safe="")
            assert get(f"{address}/documents/{place}")["title"] == document["title"]
        assert get(f"{address}/openapi.json")["info"]["title"] == HOSTILE


@pytest.mark.slow
@pytest.mark.parametrize("text", [text for text in STRINGS if is_text(text)][::71], ids=ascii)
def test_each_text_is_rendered_inertly(text: str, make_project: MakeProject) -> None:
    config = CONFIG.replace(
        'name = "notes"',
        f'name = "notes"\ntitle = {encode_toml(text)}\ndescription = {encode_toml(text)}',
    )
    project = make_project({"a.md": "# A\n\nText.\n"}, config=config)
    project.succeed("build", "--quiet")
    exported = project.export()
    settings = json.loads((exported / "notes" / "settings.json").read_bytes())
    assert (settings["title"] or "notes", settings["description"]) == (text or "notes", text)
    written = tomllib.loads((exported / "pyproject.toml").read_text(encoding="utf-8"))
    assert written["project"]["description"] == text

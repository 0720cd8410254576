"""Records stay whole, keys of data are not headings, and headings are found at any position."""

import json

import pytest
from configurations import chunking
from conftest import CONFIG, MakeProject
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.chunking import chunk
from foundry.config.file import Strategy
from foundry.documents import Chunk, Document, RawDocument
from foundry.readers import read

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers", "forked_readers")

PROSE = "Whoever holds an old token stays signed in until it expires. " * 15
YAML = f"""\
id: GH-9c4x
aliases:
  - CVE-2024-51220
package:
  ecosystem: rubygems
  name: gatepost
affected:
  - range: "< 3.4.2"
description: |
  {PROSE}
fixed_in:
  - 3.4.2
references:
  - https://example.org/gatepost/advisories/12
  - https://example.org/gatepost/pull/388
"""
OSV = {
    "id": "OSV-2024-118",
    "aliases": ["CVE-2024-41002"],
    "details": PROSE,
    "affected": [
        {
            "package": {"ecosystem": "PyPI", "name": "gatepost"},
            "ranges": [{"events": [{"introduced": "0"}, {"fixed": "3.4.2"}]}],
        }
    ],
    "references": [{"type": "FIX", "url": "https://example.org/gatepost/commit/5f1c2aa"}],
}
TOML = f"""\
id = "TA-2024-9"
description = "{PROSE}"

[package]
name = "gatepost"

[fix]
fixed_in = "3.4.2"
"""
BLOCK = """\
[advisory]
id = "RF-2024-0007"
package = "gatepost"

[versions]
patched = [">= 3.4.2"]
"""
FENCED = f"```toml\n{BLOCK}```\n\n# Tokens outlive a password\n\n{PROSE}\n\n## Impact\n\nMuch.\n"
ADVISORIES = {
    "a.yml": YAML,
    "a.json": json.dumps(OSV, indent=2),
    "a.toml": TOML,
    "a.md": FENCED,
}


def make_document(text: str, path: str) -> Document:
    document = read(RawDocument("s", path, path, text.encode()))
    assert isinstance(document, Document)
    return document


def split(text: str, path: str, strategy: Strategy = "headings") -> list[Chunk]:
    return chunk(make_document(text, path), chunking(strategy))


@pytest.mark.parametrize("name", ADVISORIES)
def test_an_advisory_is_one_chunk(name: str) -> None:
    text = ADVISORIES[name]
    assert 1_000 < len(text) <= 2_400
    strategies: list[Strategy] = ["headings", "code", "page"]
    for strategy in strategies if name.endswith(".md") else [*strategies, "sentences"]:
        (only,) = split(text, name, strategy)
        assert only.text == text.strip()
        assert (only.start, only.line_start, only.heading_path) == (0, 1, ())


def test_small_values_are_joined_under_their_common_keys() -> None:
    words = "x" * 500
    text = f"a:\n  t: {words}\nb:\n  t: {words}\nc:\n"
    text += "".join(f"  {key}:\n    t: {words}\n" for key in "defg")
    assert [
        (each.heading_path, each.text.strip()[:2], len(each.text)) for each in split(text, "a.yml")
    ] == [
        ((), "a:", 1_017),
        (("c",), "c:", 1_028),
        (("c",), "f:", 1_025),
    ]


def test_adjacent_records_of_several_keys_are_joined() -> None:
    words = "x" * 200
    inner = f"  t: {words}\n  p:\n    t: {words}\n"
    chunks = split("".join(f"{key}:\n{inner}" for key in "abcdefgh"), "a.yml")
    assert [(each.heading_path, each.text[:2]) for each in chunks] == [
        ((), f"{key}:") for key in "aceg"
    ]


def test_a_value_above_the_limit_is_cut_and_keeps_its_key() -> None:
    text = f"a:\n  - b\nlong: |\n  {PROSE * 4}\nc:\n  - d\n"
    chunks = split(text, "a.yml")
    assert [each.heading_path for each in chunks] == [("a",), *[("long",)] * 4, ("c",)]
    assert all(len(each.text) <= 1_200 for each in chunks)


_VALUES = st.recursive(
    st.integers(0, 99) | st.text("ab \n", max_size=900),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("kl", min_size=1), inner),
    max_leaves=30,
)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.text("kl", min_size=1), _VALUES))
def test_no_data_is_lost(value: object) -> None:
    text = json.dumps(value, indent=2)
    if not any(character.isalnum() for character in text):
        return
    document = make_document(text, "a.json")
    chunks = chunk(document, chunking("headings"))
    whole = document.reading.text
    edges = [0, *(edge for each in chunks for edge in (each.start, each.end)), len(whole)]
    assert edges == sorted(edges)
    assert all(whole[each.start : each.end] == each.text for each in chunks)
    left_out = [whole[end:start] for end, start in zip(edges[::2], edges[1::2], strict=True)]
    assert not any(character.isalnum() for part in left_out for character in part)
    assert all(len(each.text) <= 2_400 for each in chunks)


def test_pages_rank_above_data_with_a_key_of_that_name(make_project: MakeProject) -> None:
    project = make_project(
        {
            "sources/guide/lists.md": "# Pagination\n\nLists are cut into parts of a hundred.\n",
            "sources/guide/other.md": "# Limits\n\nA list has pages.\n",
            "sources/tests/pagination.json": json.dumps(
                {"pagination": {"limit": 5}, "more": {"pagination": {"next": "x"}}}, indent=2
            ),
            "sources/tests/case.yml": "pagination:\n  limit: 5\nrest:\n  pagination: b\n",
            "sources/tests/case.toml": "[pagination]\nlimit = 5\n\n[rest]\nnext = 'b'\n",
        }
    )
    project.succeed("build")
    found = [(hit["path"], hit["section"]) for hit in project.ask("pagination")["results"]]
    assert found[0] == ("guide/lists.md", ["Pagination"])
    assert {path for path, _ in found} >= {"tests/pagination.json", "tests/case.yml"}
    assert project.ask("pagination.json")["results"][0]["path"] == "tests/pagination.json"


def test_headings_within_a_chunk_are_found_by_name(make_project: MakeProject) -> None:
    others = {f"{n}.md": "# Notes\n\n" + "Mantle wells and mantle rocks. " * 9 for n in range(3)}
    page = "# Planets\n\nThere are some.\n\n## Inner core\n\nHot.\n\n## Mantle\n\nViscous.\n"
    project = make_project(
        {"planets.md": page, **others}, config=f'{CONFIG}\n[chunking]\nstrategy = "recursive"\n'
    )
    project.succeed("build")
    first, *_ = project.ask("mantle")["results"]
    assert (first["path"], first["section"]) == ("planets.md", ["Planets"])
    assert first["position"] == {"start": 0, "end": 68, "line_start": 1, "line_end": 11}


def test_a_value_stays_with_the_first_key_beside_it() -> None:
    below = {name: {"text": f"{name} " * 30} for name in ("limits", "parts")}
    written = json.dumps({"other": "x" * 900, "pump": {"note": "in the cellar", **below}})
    document = read(RawDocument("notes", "a.json", "a.json", written.encode()))
    assert isinstance(document, Document)
    chunks = [one.text for one in chunk(document, chunking("headings", 400, 0))]
    assert [text.count("limits limits") > 0 for text in chunks if "cellar" in text] == [True]

"""Passages with equal text, title and headings are merged into one hit with all their places."""

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest
from conftest import MakeProject
from hypothesis import given
from hypothesis import strategies as st
from samples import sample_hit
from small_indexes import Note, rendered_server, write_notes

from foundry.runtime.evaluation.judging import rank_documents
from foundry.runtime.retrieval.equal_texts import merge_equal_texts
from foundry.runtime.retrieval.results import Hit

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

WARNING = "Never touch the lamp while it burns."
NOTES = [
    Note("Lamp", (WARNING, "The lamp burns oil.")),
    Note("Lamp", ("\n Never touch\tthe lamp   while it burns.\n", "A lamp is a small lantern.")),
    Note("Fan", ("Never touch the lamp while it burns, or the fan.",)),
    Note("Lamp", (WARNING,)),
    Note("Wick", (WARNING,)),
]


def hit(number: int, text: str, title: str = "") -> Hit:
    score, path = 1 - number / 1000, f"{number}.md"
    return sample_hit(
        id=f"c{number}", document_id=f"d{number}", title=title, text=text, path=path, score=score
    )


@given(
    st.lists(
        st.tuples(
            st.text("ab ", max_size=12) | st.just("One two three, four"), st.text("T", max_size=1)
        ),
        max_size=12,
    ),
    st.integers(min_value=1, max_value=6),
)
def test_equal_texts_with_equal_titles_are_merged(found: list[tuple[str, str]], count: int) -> None:
    hits = [hit(number, text, title) for number, (text, title) in enumerate(found)]
    shown = list(merge_equal_texts(iter(hits), count=count))
    keys = [("".join(text.split()), title) for text, title in found]
    firsts = list(dict.fromkeys(keys))
    assert [("".join(one.text.split()), one.title) for one in shown] == firsts
    assert [one.score for one in shown] == [hits[keys.index(key)].score for key in firsts]
    # Hits are read up to the first one beyond `count`; later equal texts are not merged.
    read = keys[: keys.index(firsts[count])] if len(firsts) > count else keys
    for one, key in zip(shown, firsts, strict=True):
        others = [number for number, other in enumerate(read) if other == key][1:]
        assert list(one.near_duplicates) == [f"c{number}" for number in others]
        assert [place.path for place in one.also_at] == [f"{number}.md" for number in others]


@pytest.fixture(scope="module", params=["", "[search.document_cap]\nhits = 1\n"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModuleType]:
    root = tmp_path_factory.mktemp("equal")
    name = f"equal_{len(request.param)}"
    with rendered_server(root, name, request.param) as package:
        package.load(write_notes(root / "index", NOTES))
        yield package


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_search_returns_equal_texts_once(server: ModuleType, mode: str) -> None:
    response = server.search_hybrid("touch the lamp while it burns", 3, mode=mode)
    read = [(" ".join(found.text.split()), found.title) for found in response.hits]
    assert read.count((WARNING, "Lamp")) == read.count((WARNING, "Wick")) == 1
    assert len(read) == len(set(read)) == 3
    (merged,) = [found for found in response.hits if found.near_duplicates]
    assert len(merged.near_duplicates) == 2
    (as_json,) = [found for found in response.to_json()["results"] if "near_duplicates" in found]
    assert as_json["near_duplicates"] == list(merged.near_duplicates)
    places = {merged.document_id, *(place["document_id"] for place in as_json["also_at"])}
    assert places == {"d0", "d1", "d3"}
    for place in as_json["also_at"]:
        number = place["document_id"][1:]
        assert place["path"] == f"notes/{number}.md"
        assert (place["title"], place["url"]) == ("Lamp", f"https://notes.example/{number}")
    assert not {found.id for found in response.hits} & set(merged.near_duplicates)
    index = importlib.import_module(f"{server.__name__}.index.reader").current_index()
    assert all(response.covers(index.find_chunk(name)) for name in merged.near_duplicates)
    (first,) = server.search_hybrid("touch the lamp while it burns", 1, mode=mode).hits
    assert (first.id, first.score) == (response.hits[0].id, response.hits[0].score)


def test_a_merged_hit_counts_for_all_its_documents_in_evaluations(server: ModuleType) -> None:
    index = importlib.import_module(f"{server.__name__}.index.reader").current_index()
    response = server.search_hybrid(WARNING, 10)
    assert {"d0", "d1", "d3", "d4"} <= set(rank_documents(index, response.hits))


ADVISORY = """# {title}

## Affected

Packages of {package} before 2.4.

## References

CVE-2026-4242 is described in the database of vulnerabilities.
"""


def test_every_document_with_the_same_text_is_a_hit_or_listed_in_one(
    make_project: MakeProject,
) -> None:
    titled = {"alpine": "Parser reads too far", "debian": "Parser reads too far", "suse": "Parser"}
    files = {
        f"{name}.md": ADVISORY.format(title=title, package=name) for name, title in titled.items()
    }
    project = make_project(files)
    project.succeed("build", "--quiet")
    found = {hit["path"]: hit for hit in project.ask("CVE-2026-4242")["results"]}
    assert found.keys() == {"alpine.md", "suse.md"}
    (place,) = found["alpine.md"]["also_at"]
    assert (place["path"], place["title"]) == ("debian.md", "Parser reads too far")
    assert found["suse.md"]["also_at"] == []
    printed = project.succeed("query", "CVE-2026-4242").stdout
    assert "     also at Parser reads too far, debian.md\n" in printed

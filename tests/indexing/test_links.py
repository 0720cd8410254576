"""Which document a link points to, and how it is stored."""

from dataclasses import replace

import pytest
from conftest import CONFIG, MakeProject
from hypothesis import given
from hypothesis import strategies as st

from foundry.documents import Document, Link, Place, Reading
from foundry.indexing.carried.carried import Carried
from foundry.indexing.links import LinksBuilder, clean_url, link_keys

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")


def document(
    path: str,
    *targets: str,
    kind: str = "inline",
    aliases: tuple[str, ...] = (),
    **values: str | None,
) -> Document:
    links = tuple(Link(target, "", kind) for target in targets)
    return Document(
        id=f"{values.get('source', 'docs')}:{path}",
        source=values.get("source") or "docs",
        path=path,
        url=values.get("url"),
        title=values.get("title") or path,
        media_type="text/markdown",
        reader="markdown/1",
        sha256="",
        bytes=0,
        replaced=0,
        tags=(),
        modified=None,
        metadata={},
        reading=Reading(text="", links=links, aliases=aliases),
    )


def resolve(*documents: Document) -> list[list[int]]:
    builder = LinksBuilder(Carried())
    for entry in documents:
        builder.add(link_keys(entry))
    found = builder.resolve()
    (targets,) = found.columns
    return [targets[found.span(row, row + 1)].tolist() for row in range(len(documents))]


@pytest.mark.parametrize(
    "target",
    [
        "../b/page.md",
        "../b/page.md#part",
        "../b/page.html?x=1",
        "../b/page",
        "./../b//page.md",
        "/b/page.md",
        "../b/p%61ge.md",
        "https://docs.example/b/page.md",
        "HTTPS://DOCS.example/b/page.html#part",
        "http://docs.example/b/page/",
        "//docs.example/b/page",
    ],
)
def test_ways_to_name_a_document(target: str) -> None:
    documents = (
        document("a/from.md", target, url="https://docs.example/a/from.md"),
        document("b/page.md", url="https://docs.example/b/page.md"),
    )
    assert resolve(*documents) == [[1], []]


@pytest.mark.parametrize(
    "target",
    [
        "page.md",
        "../c/page.md",
        "../../b/page.md",
        "#part",
        "",
        "from.md",
        "mailto:a@docs.example",
        "javascript:alert(1)",
        "https://other.example/b/page.md",
        "http://[broken",
        "https://docs.example:99999/b/page",
        "?q=1",
    ],
)
def test_links_without_a_target_are_dropped(target: str) -> None:
    documents = (document("a/from.md", target), document("b/page.md"))
    assert resolve(*documents) == [[], []]


def test_a_link_of_only_a_query_string_has_no_target() -> None:
    assert resolve(document("a/from.md", "?q=1"), document("a/index.md")) == [[], []]


def test_a_link_without_a_scheme_may_be_a_url() -> None:
    page = document("b/page.md", url="https://docs.example/b/page")
    assert resolve(document("a.md", "//docs.example/b/page"), page) == [[1], []]


def test_a_link_to_a_folder_leads_to_its_index_page() -> None:
    documents = (
        document("a.md", "guide/", "guide/README.md", "guide"),
        document("guide/index.md", "../a.md"),
    )
    assert resolve(*documents) == [[1], [0]]


def test_wikilinks_name_pages() -> None:
    documents = (
        document("a.md", "Pump Seal", "pumps/d40", "D40", "nothing", kind="wikilink"),
        document("pumps/seal.md", title="Pump  seal"),
        document("pumps/D40.md"),
        document("other/D40.md"),
        document("pumps/d40.md", source="elsewhere"),
    )
    assert resolve(*documents)[0] == [1, 2]


def test_wikilinks_name_pages_by_their_aliases_too() -> None:
    documents = (
        document("a.md", "Big  Pump", "pump, big", "Seal", kind="wikilink"),
        document("d40.md", aliases=("big pump", "Pump, Big", "Seal")),
        document("d41.md", aliases=("Big pump",)),
        # A title takes precedence over an alias.
        document("seal.md"),
        document("x.md", source="elsewhere", aliases=("Big pump",)),
    )
    assert resolve(*documents)[0] == [1, 3]


def test_relative_links_stay_in_their_source() -> None:
    documents = (document("a.md", "b.md"), document("b.md", source="elsewhere"))
    assert resolve(*documents) == [[], []]


def test_links_are_unique_and_in_text_order() -> None:
    names = ["c.md", "b.md", "c.md#x", "a.md", "d.md"]
    documents = [document("a.md", *names), *(document(f"{name}.md") for name in "bcd")]
    assert resolve(*documents)[0] == [2, 1, 3]


def test_a_link_to_a_copy_leads_to_the_document_that_is_kept() -> None:
    copy = Place("docs:old.md", "docs", "old.md", "https://docs.example/old", "Old")
    kept = replace(document("new.md"), also_at=(copy,))
    pages = (document("a.md", "old.md"), document("b.md", "https://docs.example/old"))
    assert resolve(*pages, kept) == [[2], [2], []]


@given(st.text(max_size=50))
def test_any_link_target_is_handled(target: str) -> None:
    documents = (document("a.md", target, url="https://x.example/a.md"), document("b.md", target))
    assert all(number in (0, 1) for targets in resolve(*documents) for number in targets)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://a.example/x/index.html", "a.example/x"),
        ("https://a.example", "a.example/."),
        ("https://a.example/", "a.example/."),
        ("http://a.example:8080/x", "a.example:8080/x"),
        ("ftp://a.example/x", None),
        ("https:///x", None),
        ("/x", None),
    ],
)
def test_addresses(url: str, address: str | None) -> None:
    assert clean_url(url) == address


LINKED_FILES = {
    "d40.md": "# Pump\n\nThe pump lifts water out of the shaft. See [[Big ring]].\n",
    "ring.md": "---\naliases: [Big ring]\n---\n# Rubber\n\nChange it every spring.\n",
    "crew.md": "# Crew\n\nFour people, see [their machine](d40.md).\n",
    **{
        f"{n}.md": f"# Level {n}\n\nWater drips in this shaft{' day and night' * n}.\n"
        for n in range(12)
    },
}


@pytest.mark.parametrize("provider", ["static", "none"])
def test_links_affect_the_first_page_by_default(make_project: MakeProject, provider: str) -> None:
    pages = []
    for name, stage in (("without", ""), ("with", "[search.links]\n")):
        config = f'{CONFIG}\n[embedding]\nprovider = "{provider}"\n{stage}'
        project = make_project(LINKED_FILES, config=config, name=name)
        project.succeed("build")
        answer = project.ask("the pump that lifts water out of the shaft")
        pages.append([found["path"] for found in answer["results"]])
    without, with_links = pages
    assert len(without) == len(with_links) == 10
    assert {"ring.md", "crew.md"}.isdisjoint(without)
    # The best hit links to one of the pages by an alias, and the other page links to the best hit.
    assert with_links[:3] == without[:3]
    assert {"ring.md", "crew.md"} <= {*with_links}

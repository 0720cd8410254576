"""Headings that are found by their beginning, and by letters and paragraph numbers in them."""

import pytest
from conftest import MakeProject
from small_indexes import Note, make_document

from foundry.indexing.keyword.names import chunk_names
from foundry.indexing.keyword.terms import TermCounter
from foundry.runtime.index.heading_terms import heading_term
from foundry.runtime.index.tokens import Tokenizer

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

APPENDICES = {
    f"{letter}{part}.md": f"# Appendix {letter} to Part {part} -- Forms of {letter}\n\n"
    f"Creditors, forms. Appendix {other} to Part {part} has others, see appendix {other}.\n"
    for letter, other in ("AB", "BA", "CA")
    for part in (1002, 1024)
}


def test_an_appendix_is_found_by_its_letter(make_project: MakeProject) -> None:
    project = make_project(APPENDICES)
    project.succeed("build")
    for query, path in (
        ("Appendix A to Part 1002", "A1002.md"),
        ("appendix b to part 1024", "B1024.md"),
        ("appendix c to part 1002", "C1002.md"),
    ):
        assert project.ask(query)["results"][0]["path"] == path


def test_equal_heading_is_above_a_longer_one(
    make_project: MakeProject,
) -> None:
    plain = "# Appendix B to Part 1024\n\nReserved.\n"
    project = make_project(APPENDICES | {"z.md": plain})
    project.succeed("build")
    found = project.ask("Appendix B to Part 1024")["results"]
    assert [result["path"] for result in found[:2]] == ["z.md", "B1024.md"]


def test_a_paragraph_is_found_whole_and_by_its_section(make_project: MakeProject) -> None:
    texts = {
        "cited.md": "# Liability\n\nSee 1005.6(b)(2) on notice.\n",
        "rule.md": "# 1005.6 Limits\n\nLimits of liability.\n",
        "other.md": "# Errors\n\nUnder 1005.7 an error is corrected.\n",
    }
    project = make_project(texts)
    project.succeed("build")
    for query, path in (
        ("1005.6(b)(2)", "cited.md"),
        ("1005.6", "rule.md"),
        ("1005.7(c)", "other.md"),
    ):
        assert project.ask(query)["results"][0]["path"] == path


@pytest.mark.parametrize(
    ("heading", "query", "is_beginning"),
    [
        ("Appendix B to Part 1024 -- Model forms", "appendix b to part 1024", True),
        ("Appendix A\u2014Agencies", "Appendix A", True),
        ("Step 1: Install", "step 1", True),
        ("git commit --amend", "git commit", False),
        ("std::vector at 10:30", "std", False),
    ],
)
def test_a_heading_is_named_by_its_text_before_a_dash_or_colon(
    heading: str, query: str, is_beginning: bool
) -> None:
    tokenizer = Tokenizer("english")
    document, chunks = make_document(0, Note(heading, ("text",)))
    counted = TermCounter(tokenizer).count(document, chunks, chunk_names(document, chunks))
    assert (heading_term(tokenizer.tokenize(query)) in counted.vocabulary) is is_beginning

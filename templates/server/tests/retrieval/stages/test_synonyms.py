"""Synonyms: the known forms of a query, and the terms added for them."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.heading_terms import query_terms
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.synonyms import (
    FOLDER,
    MAX_ADDED,
    SynonymsLayout,
    add_synonyms,
    open_forms,
)

FORMS = {
    "fk": ["Forward kinematics"],
    "forward kinemat": ["FK"],
    "k8s": ["kubernetes"],
    "arm": ["limb"],
    "lamp": ["lantern", "light source"],
    "lantern": ["lamp", "light source"],
    "light sourc": ["lamp", "lantern"],
    "mcp": ["Model Context Protocol"],
    "red blue pink gold gray teal lime mint": ["palette"],
    "red blue pink gold gray teal lime mint plum": ["spectrum"],
}
FREQUENCIES = {
    **{"fk": 1, "forward": 2, "kinemat": 2, "kubernet": 1, "lamp": 3, "mcp": 3},
    **{"model": 1, "context": 1, "protocol": 1, "server": 1},
    **{"=forward kinemat": 1, "=mcp server": 1, "=fk solver": 1},
}


@pytest.fixture
def index(tmp_path: Path) -> Any:
    """An index with the synonyms FORMS, whose terms have FREQUENCIES."""
    (tmp_path / FOLDER).mkdir()
    SynonymsLayout(tmp_path / FOLDER).forms.write_text(json.dumps(FORMS))
    index: Any = SimpleNamespace(
        layout=SimpleNamespace(root=tmp_path),
        tokenizer=Tokenizer("english"),
        keyword_lane=SimpleNamespace(frequency=lambda term: FREQUENCIES.get(term, 0)),
    )
    index.part = lambda kind: kind(index)
    return index


def widen(index: Any, query: str) -> tuple[str, list[str], list[str], Any]:
    """Return the text, the tokens, the added terms, and the notes."""
    searched, tokens = index.tokenizer.tokenize_query(query)
    journal, own = Journal(), query_terms(tokens)
    text, kept, terms = add_synonyms(index, searched, tokens, own, journal)
    assert terms[: len(own)] == own
    said = journal.stages.get("synonyms", {}).get("added", {})
    return text, [token.text for token in kept], terms[len(own) :], said


def test_both_forms_of_an_acronym_stand_for_each_other(index: Any) -> None:
    text, tokens, terms, said = widen(index, "FK of a leg")
    # The long form is in more chunks, so it is added to the text that is embedded.
    assert text == "FK of a leg Forward kinematics"
    assert tokens == ["FK", "of", "a", "leg"]
    assert terms == ["forward", "kinemat", "=forward kinemat leg"]
    assert said == {"FK": ["Forward kinematics"]}


def test_a_heading_stays_as_it_is_named(index: Any) -> None:
    text, tokens, terms, said = widen(index, "forward kinematics")
    assert (text, tokens) == ("forward kinematics", ["forward", "kinematics"])
    assert (terms, said) == (["fk"], {"forward kinematics": ["FK"]})
    # A longer and rarer form would outweigh the short one.
    assert widen(index, "MCP server") == ("MCP server", ["MCP", "server"], [], {})
    assert widen(index, "MCP tools")[3] == {"MCP": ["Model Context Protocol"]}
    # A form that is in more chunks is not rarer.
    assert widen(index, "FK solver")[2:] == (["forward", "kinemat"], {"FK": ["Forward kinematics"]})


def test_a_form_that_no_chunk_has_is_not_searched_for(index: Any) -> None:
    text, tokens, _, said = widen(index, "K8S restarts")
    assert (text, tokens) == ("K8S restarts kubernetes", ["restarts"])
    assert said == {"K8S": ["kubernetes"]}
    # A one-way synonym works in one direction only.
    assert widen(index, "kubernetes restarts")[3] == {}


def test_a_rarer_form_is_no_part_of_the_text(index: Any) -> None:
    text, _, terms, _ = widen(index, "smoking lamps")
    assert text == "smoking lamps"
    assert terms == ["lantern", "=smoke lantern", "light", "sourc", "=smoke light sourc"]


def test_the_longest_form_counts(index: Any) -> None:
    assert widen(index, "a light source")[3] == {"light source": ["lamp", "lantern"]}
    assert widen(index, "light of a lamp")[3] == {"lamp": ["lantern", "light source"]}


def test_a_form_of_eight_terms_is_known_and_none_of_nine(index: Any) -> None:
    eight = "red blue pink gold gray teal lime mint"
    assert widen(index, eight)[3] == {eight: ["palette"]}
    assert widen(index, f"{eight} plum")[3] == {eight: ["palette"]}


def test_forms_are_looked_for_in_the_first_words(index: Any) -> None:
    assert widen(index, "leg " * 127 + "FK")[3] == {"FK": ["Forward kinematics"]}
    assert widen(index, "leg " * 128 + "FK")[3] == {}


def test_a_form_that_as_many_chunks_have_is_no_part_of_the_text(index: Any) -> None:
    text, _, terms, said = widen(index, "arms of a robot")
    assert text == "arms of a robot"
    assert (terms, said) == (["limb", "=limb robot"], {"arms": ["limb"]})


def test_only_new_terms_are_added(index: Any) -> None:
    assert widen(index, "light for lamps")[2] == [
        "lantern",
        "=light lantern",
        "sourc",
        "=light light sourc",
    ]
    assert widen(index, "FK")[2] == ["forward", "kinemat", "=forward kinemat"]


def test_what_is_added_is_bounded(index: Any) -> None:
    said = widen(index, "lamp FK lantern K8S light source MCP")[3]
    assert sum(map(len, said.values())) == MAX_ADDED == 8
    assert said["light source"] == ["lamp", "lantern"] and "MCP" not in said
    said = widen(index, "FK K8S arms lantern light source lamp")[3]
    assert said["lamp"] == ["lantern"]


@pytest.mark.parametrize(("units", "added"), [(4_999, 0), (5_000, 1)])
def test_a_form_is_added_if_the_budget_covers_it(index: Any, units: int, added: int) -> None:
    journal, tokens = Journal(units=units), index.tokenizer.tokenize("FK of a leg")
    text, _, _ = add_synonyms(index, "FK of a leg", tokens, query_terms(tokens), journal)
    assert text == "FK of a leg" + " Forward kinematics" * added
    assert journal.units == units - 5_000 * added
    assert ("budget" in journal.stages) == (not added)


def test_a_query_without_known_forms_stays_as_it_is(index: Any) -> None:
    tokens = ["a", "hand", "of", "the", "robot"]
    assert widen(index, "a hand of the robot") == ("a hand of the robot", tokens, [], {})
    assert widen(index, "?!") == ("?!", [], [], {})
    journal = Journal()
    add_synonyms(index, "robot", index.tokenizer.tokenize("robot"), ["robot"], journal)
    assert journal.stages == {}


@pytest.mark.parametrize("content", [b"", b"[]", b'{"fk": 3}', b"\xff", None])
def test_damaged_forms_are_refused(index: Any, tmp_path: Path, content: bytes | None) -> None:
    forms = SynonymsLayout(tmp_path / FOLDER).forms
    forms.unlink() if content is None else forms.write_bytes(content)
    with pytest.raises(IndexUnusableError, match=r"forms\.json: unreadable: .*; synonyms need it"):
        open_forms(index)

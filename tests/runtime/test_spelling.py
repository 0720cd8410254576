"""British spellings and their American counterparts."""

from itertools import pairwise

import pytest

from foundry.embedding.static import StaticEmbedder
from foundry.runtime.index.spelling import american
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.encoder import PieceCutter

PAIRS = """
    localisation localization  organised organized  optimisers optimizers  realisable realizable
    colour color  fibreglass fiberglass  behavioural behavioral  neighbourhood neighborhood
    unfavourable unfavorable  centre center  centred centered  kilometres kilometers
    centring centering
    manoeuvring maneuvering  defence defense  licence license  practising practicing
    analyse analyze  analyser analyzer  catalogue catalog  cataloguing cataloging  dialogues dialogs
    fuelled fueled  modelling modeling  travellers travelers  counsellor counselor  grey gray
    programme program  sulphate sulfate  judgement judgment  paediatric pediatric  tyres tires
    cheque check  cheques checks  chequered checkered
    skilful skillful  enrolment enrollment  catalysed catalyzed  jewellery jewelry
""".split()


@pytest.mark.parametrize(("british", "other"), list(pairwise(PAIRS))[::2])
def test_both_spellings_have_the_same_terms(british: str, other: str) -> None:
    english = Tokenizer("english")
    assert english.terms(british) == english.terms(other) != []
    assert american(other) == other
    assert Tokenizer("none").terms(british) == [british]


@pytest.mark.parametrize(
    "word",
    "hour tour course source contour acre genre there literature temperature premature exercise"
    " promise otherwise surprise advertising improvised paradise treatise expertise precise rise"
    " size analysis crises prologue sequence fence allowed called programmer entered".split(),
)
def test_words_that_only_look_like_british_spellings_are_kept(word: str) -> None:
    assert american(word) == word


def test_both_spellings_have_the_same_vector_in_english() -> None:
    headings = ["", ""]
    texts = ["localisation of the colour centre", "localization of the color center"]
    for language, alike in (("english", True), ("german", False)):
        first, second = StaticEmbedder(language).embed_documents(headings, texts)
        assert (first == second).all() == alike


def test_pieces_are_looked_up_by_american_spelling() -> None:
    pieces = ["colour", "color"]
    assert PieceCutter(pieces, "english").cut("Colour")[0].rows == (1,)
    assert PieceCutter(pieces).cut("Colour")[0].rows == (0,)

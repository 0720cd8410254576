"""Words by which a message of a conversation is told from a question that stands by itself."""

import re
from dataclasses import dataclass

from ..retrieval.tokens import ENGLISH_STOP_WORDS


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """Words of one language that say nothing about what is asked, in lower case.

    `empty` are those of grammar and those that talk about the conversation ("explain that").
    `articles` are pronouns only where no word of its own comes next ("one", but not "one lamp");
    `possessives` may refer to a name of their own clause; `clauses` begin a new one. A message of
    `thanks` and `politeness` alone, with at least one of the former, asks nothing. `expletives`
    are pronouns that stand for nothing, as in "is it possible"; `joints` part words.
    """

    language: str
    empty: frozenset[str]
    pronouns: frozenset[str]
    articles: frozenset[str]
    possessives: frozenset[str]
    clauses: frozenset[str]
    openings: tuple[str, ...]
    thanks: frozenset[str]
    politeness: frozenset[str]
    expletives: re.Pattern[str]
    joints: str = ""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, each once."""
    return frozenset(text.split())


ENGLISH = LanguageWords(
    language="english",
    empty=ENGLISH_STOP_WORDS
    | word_set(
        "without about over under up down out off being am done may might must yes mine yours"
        " whose here because too also very just only really some any all each every both few"
        " many much lot own same don't doesn't didn't isn't aren't what's who's where's how's"
        " that's i'm give show tell explain say mean means meant understand clarify elaborate"
        " expand continue go repeat rephrase reword summarise summarize translate list write"
        " put make get know want need like help let see example examples instance detail"
        " details detailed summary table bullet bullets point points step steps more less again"
        " else other another further longer shorter short long simple simpler simply clear"
        " clearer clearly brief briefly better easier easy please pls answer question sentence"
        " sentences word words terms english german french spanish italian sure exactly next"
        " previous first second third last above below come earlier before after then now"
    ),
    pronouns=word_set(
        "it its itself they them their theirs he him his himself she her hers this these those"
        " that former latter it's they're he's she's one ones"
    ),
    articles=word_set("one ones"),
    possessives=word_set("its their his her"),
    clauses=word_set(
        "and but or so then if when while because before after since until though although"
        " where that which who how why what whether"
    ),
    openings=("and", "but", "or", "also", "what about", "how about", "so", "then"),
    thanks=word_set(
        "thanks thank thx ty cheers ok okay k great good nice cool perfect excellent awesome"
        " see wonderful fine alright right got understood helps helped helpful sense bye goodbye"
    ),
    politeness=word_set(
        "you it i that's that is this very much so a lot many all for your the help now clear"
        " makes no yes and really"
    ),
    expletives=re.compile(
        r"\b(?:is|was|does|will|would|should|can|could) it(?= (?:not )?(?:take|cost|possible|ok|"
        r"okay|safe|allowed|legal|necessary|required|better|best|worth|matter|true|rain|snow)\b)|"
        r"\b(?:is|are|was|were) there\b|"
        r"\bit (?=(?:takes|costs|is (?:not )?(?:possible|allowed|necessary))\b)"
    ),
)

"""Classifies messages as questions, follow-ups or thanks, and builds queries for follow-ups.

A message is a follow-up if it has no content word ("why?"), if a pronoun has no earlier clause to
refer to ("who wrote it?", but not "does a lamp smoke when it is lit?"), or if it begins like a
continuation ("and if I wait two weeks?"). A continuation that asks a question of its own with more
than two content words is not a follow-up ("so tell me what a lamp costs in Germany").
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..index.reader import Index
from ..index.records import ChunkRecord
from ..index.tokens import ENGLISH_STOP_WORDS
from ..retrieval.filters import Filters
from ..retrieval.journal import MAX_QUERY_LENGTH

Kind = Literal["question", "follow_up", "acknowledgement"]

DEFAULT_CHAT_TOP_K = 6
MAX_WORDS = 24  # A longer message is not a follow-up.
MAX_ADDED_WORDS = 2
MAX_FOLLOW_UPS = 4  # Maximum number of follow-ups added to a query; the newest are chosen.
MAX_HEADING_CHARACTERS = 120

_WORD = re.compile(r"\w+(?:-\w+)*")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation; `cited` are the headings of the passages that it cites."""

    role: Literal["user", "assistant"]
    content: str
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request: the last turn is the user's question; up to `top_k` passages may be cited."""

    turns: Sequence[Turn]
    top_k: int = DEFAULT_CHAT_TOP_K
    filters: Filters | None = None
    # Only answers by a language model use these fields.
    wishes: str = ""
    max_tokens: int | None = None
    options: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """The text of the last turn."""
        return self.turns[-1].content


def heading_of(chunk: ChunkRecord) -> str:
    """Return a chunk's title and headings as one line."""
    return " > ".join(" ".join(part.split()) for part in chunk.titled_section())


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """Words of the documents' language and of English, in lower case."""

    language: str
    empty: frozenset[str]  # Function words, and words about the conversation, as in "explain that"
    pronouns: re.Pattern[str]
    expletives: re.Pattern[str]  # Pronouns that refer to nothing
    clauses: re.Pattern[str]
    openings: re.Pattern[str]
    asking: re.Pattern[str]  # Words that begin a question or a request
    thanks: frozenset[str]
    polite: frozenset[str]  # Count as thanks only together with one of `thanks`


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


ENGLISH = LanguageWords(
    language="english",
    empty=ENGLISH_STOP_WORDS
    | word_set(
        "arent cant didnt doesnt dont isnt wasnt wont"
        " about again all am another any because before better clarify continue define definition"
        " describe detail details doesn don each elaborate else english example examples expand"
        " explain first french further german get give go happen happens he help her here hers him"
        " his isn itself just know last let like list ll longer m make many mean means more much"
        " need next no one ones only other please previous question re really repeat rephrase s"
        " same say second see she short shorter show simple simpler simply spanish step steps"
        " summarise summarize summary sure t table take takes tell terms theirs those too"
        " translate understand ve very versus vs want who whose without word words write"
        " yes yourself"
    ),
    pronouns=re.compile(
        r"\b(?:it|its|they|them|theirs?|he|him|his|she|hers?|this|these|those|former|latter)\b"
        r"|(?:^|\b(?:is|was|does|did|do|can|has|about|with|for|of|in|to|if|and)\s)that\b"
        r"|\bthat(?=\W*$|[,;])|\bones?(?=\W*$|\s(?:is|are|was|do|does|can|should|would)\b)"
    ),
    expletives=re.compile(
        r"\b(?:is|was|does|will|would|should|can) it(?= (?:not )?(?:take|cost|possible|ok|okay|"
        r"safe|allowed|legal|necessary|required|better|best|worth|matter)\b(?!\W*\Z))|"
        r"\bit (?=(?:takes|costs|is (?:not )?(?:possible|allowed|necessary))\b)"
    ),
    clauses=re.compile(
        r"[,;:.?!]|\b(?:and|but|or|so|then|if|when|while|because|before|after|since|until|although"
        r"|where|that|which|who|how|why|what|whether)\b"
    ),
    openings=re.compile(
        r"(?:and|but|or|also|so|then|only|what about|how about|what if|same (?:for|in|on|with))\b"
        r"|(?:after|at|before|by|for|from|in|of|on|since|to|under|until|using|via|with|without)\b"
        r"(?: (?=(?:how|what|which|who[ms]e?)\b)|(?: [^\W_][\w.+#-]*){1,3}\W*\Z)"
    ),
    asking=re.compile(
        r"(?:wh(?:at|ich|o|om|ose|en|ere|y)|how|is|are|was|were|do|does|did|has|have|can|could"
        r"|will|would|shall|should|may|must|tell|show|give|list|find|explain|describe)\b"
    ),
    thanks=word_set(
        "thanks thank thx cheers ok okay great good nice cool perfect excellent see fine"
        " alright right got understood helps helped helpful bye goodbye"
    ),
    polite=word_set(
        "you it that is this so very much a lot for your the now clear makes sense i s no yes and"
    ),
)


def kind_of(turns: Sequence[Turn], index: Index, language: LanguageWords = ENGLISH) -> Kind:
    """Return the kind of the last turn; the user's first turn is always a question."""
    text = turns[-1].content.lower()
    words = _WORD.findall(text)
    is_short = 0 < len(words) <= MAX_WORDS and len(text) <= MAX_QUERY_LENGTH
    has_earlier = any(turn.role == "user" for turn in turns[:-1])
    if has_earlier and "?" in text and not text.strip(" .!?"):
        return "follow_up"
    if not is_short or not has_earlier:
        return "question"
    is_polite = (language.thanks | language.polite).issuperset(words) and "?" not in text
    if is_polite and not language.thanks.isdisjoint(words):
        # After an offer ("Shall I go on?"), thanks mean yes.
        is_offered = turns[-2].content.rstrip().endswith("?") and "no" not in words
        return "follow_up" if is_offered else "acknowledgement"
    is_follow_up = _refers_back(text, language) or _goes_on(text, index, language)
    return "follow_up" if is_follow_up or not _own_words(text, language) else "question"


def query_of(turns: Sequence[Turn], index: Index, language: LanguageWords = ENGLISH) -> str:
    """Return the query for a follow-up, built from the turns since the question it refers to."""
    parts: list[str] = []
    for end in range(len(turns), 0, -1):
        if turns[end - 1].role != "user":
            continue
        text = " ".join(turns[end - 1].content.split())
        kind = kind_of(turns[:end], index, language)
        has_own = len(parts) < MAX_FOLLOW_UPS and bool(_own_words(text, language))
        if kind == "question" or (kind == "follow_up" and has_own):
            parts.insert(0, text)
        if kind == "question":
            break
    # Only one heading is added: with several, passages that resemble them would rank above answers.
    headings = (turn.cited[0] for turn in reversed(turns) if turn.cited)
    heading = next(headings, "")[:MAX_HEADING_CHARACTERS]
    return " ".join([*parts, heading])[-MAX_QUERY_LENGTH:].strip()


def _own_words(text: str, language: LanguageWords) -> list[str]:
    empty = language.empty | language.thanks | language.polite
    return [word for word in _WORD.findall(text.lower()) if word not in empty]


def _refers_back(text: str, language: LanguageWords) -> bool:
    text = language.expletives.sub(" ", text)
    pronoun = language.pronouns.search(text)
    earlier_clauses = language.clauses.split(text[: pronoun.start()])[:-1] if pronoun else []
    return pronoun is not None and not _own_words(" ".join(earlier_clauses), language)


def _goes_on(text: str, index: Index, language: LanguageWords) -> bool:
    opening = language.openings.match(text)
    if opening is None:
        return False
    own = _own_words(text, language)
    is_asking = language.asking.match(text[opening.end() :].lstrip(" ,¿"))
    return (
        (len(own) <= MAX_ADDED_WORDS or is_asking is None)
        and not any(token.is_identifier for token in index.tokenizer.tokenize(text))
        # A message whose words are in no document is searched for alone and finds nothing, instead
        # of chunks that match only the earlier question.
        and any(map(index.keyword_lane.frequency, index.tokenizer.terms(" ".join(own))))
    )

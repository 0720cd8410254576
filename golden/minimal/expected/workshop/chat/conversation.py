"""What a message of a conversation is: a question, one that follows up, or a thank-you.

A message follows up on an earlier question if it cannot be searched for by itself, which is to say

- it has no word of its own: "give me an example", "why?", "explain that more simply";
- or it refers back: a pronoun stands in it, and no word of its own in an earlier clause that the
  pronoun could stand for: "and who wrote it?", but not "does a lamp smoke when it is lit?";
- or it goes on ("and in Germany?", "what about refunds?") with two words of its own at most, of
  which the documents have some.

A word of its own is one that is neither grammar nor talk about the conversation. Messages are read
as English and in the language of the documents; one of more than 24 words stands by itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..index.reader import Index
from ..retrieval.results import MAX_QUERY_LENGTH
from .words import ENGLISH, LanguageWords

Kind = Literal["question", "follow_up", "acknowledgement"]

MAX_WORDS = 24
MAX_OWN_WORDS_TO_GO_ON = 2
MAX_FOLLOW_UPS = 4
"""That are searched for together with the question that began them."""

MAX_HEADING_CHARACTERS = 120

_WORD = re.compile(r"\w+(?:['\u2019.:/@-]\w+)*|[,;:.?!]")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said in a conversation; `cited` are headings of passages, if known."""

    role: Literal["user", "assistant"]
    content: str
    cited: tuple[str, ...] = ()


def kind_of(turns: Sequence[Turn], index: Index, language: LanguageWords = ENGLISH) -> Kind:
    """Return what the last turn is; without an earlier question it is always a question."""
    text = turns[-1].content
    if not any(turn.role == "user" for turn in turns[:-1]) or len(text) > MAX_QUERY_LENGTH:
        return "question"
    message = _read(text, index, language)
    if message.is_thanks():
        # What follows an offer ("Shall I go on?") accepts it.
        is_offered = turns[-2].content.rstrip().endswith("?") and "no" not in message.words
        return "follow_up" if is_offered else "acknowledgement"
    return "follow_up" if message.follows_up(index) else "question"


def can_be_told(text: str, index: Index, language: LanguageWords = ENGLISH) -> bool:
    """Return whether `kind_of` can read a message: else a follow-up passes for a question."""
    letters = _LETTER.findall(text)
    latin = sum(bool(_LATIN.match(letter)) for letter in letters)
    return index.tokenizer.language == language.language and 2 * latin >= len(letters)


def query_of(turns: Sequence[Turn], index: Index, language: LanguageWords = ENGLISH) -> str:
    """Return what to search for to answer a follow-up: what it refers to, and its own words.

    That is the question that began it, the follow-ups since, and the headings of the passage that
    the last answer cited first. What is too long loses its beginning first.
    """
    parts: list[str] = []
    for position in range(len(turns) - 1, -1, -1):
        if turns[position].role != "user":
            continue
        text = " ".join(turns[position].content.split())
        kind = kind_of(turns[: position + 1], index, language)
        if kind == "question":
            parts.append(text)
            break
        has_room = kind == "follow_up" and len(parts) < MAX_FOLLOW_UPS
        if has_room and any(_read(text, index, language).own):
            parts.append(text)
    # Of one passage: with those of several, what is nearest to the headings came before the answer.
    headings = (turn.cited[0] for turn in reversed(turns) if turn.cited)
    cited = next(headings, "")[:MAX_HEADING_CHARACTERS]
    return " ".join([*reversed(parts), cited])[-MAX_QUERY_LENGTH:].strip()


@dataclass(frozen=True, slots=True)
class _Message:
    """A message as one language reads it.

    `words` are in lower case, and hold the marks that end a clause; `own` says of each whether it
    is about something; `names` are those that are written as such.
    """

    language: LanguageWords
    words: list[str]
    own: list[bool]
    names: set[str]

    def follows_up(self, index: Index) -> bool:
        """Return whether the message cannot be searched for by itself."""
        if not self.words or len(self.words) > MAX_WORDS:
            return False
        own = [word for word, is_own in zip(self.words, self.own, strict=True) if is_own]
        if not own or self._refers_back():
            return True
        text = " ".join(self.words)
        return (
            text.startswith(tuple(f"{opening} " for opening in self.language.openings))
            and len(own) <= MAX_OWN_WORDS_TO_GO_ON
            and not any(token.is_identifier for token in index.tokenizer.tokenize(text))
            and any(map(index.keyword_lane.frequency, index.tokenizer.terms(" ".join(own))))
        )

    def is_thanks(self) -> bool:
        """Return whether the message says thank you, or fine, and nothing else."""
        said = {word for word in self.words if word[0].isalnum()}
        return (
            len(self.words) <= MAX_WORDS
            and "?" not in self.words
            and not said.isdisjoint(self.language.thanks)
            and said <= self.language.thanks | self.language.politeness
        )

    def _refers_back(self) -> bool:
        """Return whether the first pronoun has nothing in the message to stand for."""
        words, clauses = self.words, self.language.clauses
        place = next(filter(self._is_pronoun, range(len(words))), None)
        if place is None:
            return False
        ends = [n for n in range(place) if words[n] in clauses or not words[n][0].isalnum()]
        if any(self.own[: max(ends, default=0)]):
            return False
        own = {words[n] for n in range(place) if self.own[n]}
        return words[place] not in self.language.possessives or own.isdisjoint(self.names)

    def _is_pronoun(self, position: int) -> bool:
        language, word = self.language, self.words[position]
        following = next(iter(self.words[position + 1 :]), "")
        if word in language.articles:
            return not any(self.own[position + 1 : position + 2])
        if word in language.clauses and any(self.own[max(0, position - 1) : position]):
            # "the lamp that smokes", but not "who wrote that, and when?"
            is_alone = not following[:1].isalnum() or following in language.clauses
            return word in language.pronouns and is_alone
        return word in language.pronouns


def _read(text: str, index: Index, language: LanguageWords) -> _Message:
    """Read a message in the language of the documents unless it has more of English."""
    text = text.replace("\u2019", "'")
    tokens = index.tokenizer.tokenize(text)
    names = {
        token.text.lower()
        for token in tokens
        if token.is_identifier or re.search(r"\d", token.text)
    }
    names |= {word.lower() for word in _WORD.findall(text)[1:] if word[0].isupper()}
    readings = (_read_as(language, text.lower(), names), _read_as(ENGLISH, text.lower(), names))
    return min(readings, key=lambda message: sum(message.own))


def _read_as(language: LanguageWords, text: str, names: set[str]) -> _Message:
    text = language.expletives.sub(" ", text)
    text = text.translate(dict.fromkeys(map(ord, language.joints), " "))
    words = _WORD.findall(text)
    own = [word[0].isalnum() and word not in language.empty | language.pronouns for word in words]
    for position, word in enumerate(words):
        # "Great, and who wrote it?": what opens a message may thank for the last answer.
        if word[0].isalnum() and word not in language.thanks | language.politeness:
            break
        own[position] = False
    return _Message(language, words, own, names)

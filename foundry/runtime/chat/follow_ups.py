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
from .prompt import Turn
from .words import ENGLISH, FRENCH, LANGUAGES, LanguageWords

Kind = Literal["question", "follow_up", "acknowledgement"]

MAX_WORDS = 24
MAX_OWN_WORDS_TO_GO_ON = 2
MAX_FOLLOW_UPS = 4
"""That are searched for together with the question that began them."""

MAX_HEADING_LENGTH = 120
"""Characters."""


_WORD = re.compile(r"\w+(?:['\u2019.:/@-]\w+)*|[,;:.?!]")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


@dataclass(frozen=True, slots=True)
class _Message:
    """A message as one language reads it.

    Words are in lower case; the marks that end a clause count as words. `own` says of each whether
    it is about something.
    """

    language: LanguageWords
    words: list[str]
    own: list[bool]
    names: frozenset[str]

    @classmethod
    def of(cls, text: str, index: Index) -> "_Message":
        """Read a message, in the language of the documents unless it has more of English."""
        text = text.replace("\u2019", "'")
        names = {
            token.text.lower()
            for token in index.tokenizer.tokenize(text)
            if token.is_identifier or _DIGIT.search(token.text)
        }
        written = [match[0] for match in _WORD.finditer(text)]
        names |= {word.lower() for word in written[1:] if word[0].isupper()}
        own = LANGUAGES.get(index.tokenizer.language, ENGLISH)
        return min(
            (cls._read(text.lower(), names, language) for language in (own, ENGLISH)),
            key=lambda message: sum(message.own),
        )

    @classmethod
    def _read(cls, text: str, names: set[str], language: LanguageWords) -> "_Message":
        text = language.expletives.sub(" ", text)
        if language is FRENCH:
            text = text.replace("'", " ").replace("-", " ")
        words = [match[0] for match in _WORD.finditer(text)]
        empty = language.grammar | language.pronouns | language.talk
        own = [word[0].isalnum() and word not in empty for word in words]
        for position, word in enumerate(words):
            # "Great, and who wrote it?": what opens a message may thank for the last answer.
            if word[0].isalnum() and word not in language.thanks | language.politeness:
                break
            own[position] = False
        return cls(language, words, own, frozenset(names))

    def follows_up(self, index: Index) -> bool:
        """Whether it cannot be searched for by itself."""
        own = [word for word, is_own in zip(self.words, self.own, strict=True) if is_own]
        if not self.words or len(self.words) > MAX_WORDS:
            return False
        if not own or self._refers_back():
            return True
        text = " ".join(self.words)
        return (
            any(text.startswith(f"{opening} ") for opening in self.language.openings)
            and len(own) <= MAX_OWN_WORDS_TO_GO_ON
            and not any(token.is_identifier for token in index.tokenizer.tokenize(text))
            and any(map(index.keyword_lane.frequency, index.tokenizer.terms(" ".join(own))))
        )

    def is_thanks(self) -> bool:
        """Whether it says thank you, or fine, and nothing else."""
        said = {word for word in self.words if word[0].isalnum()}
        language = self.language
        return (
            len(self.words) <= MAX_WORDS
            and "?" not in self.words
            and not said.isdisjoint(language.thanks)
            and said <= language.thanks | language.politeness
        )

    def _refers_back(self) -> bool:
        """Whether the first pronoun has nothing in the message to stand for."""
        own = named = earlier = False
        for position, word in enumerate(self.words):
            if self._is_pronoun(position):
                return not (earlier or (named and word in self.language.possessives))
            earlier = earlier or (own and (word in self.language.clauses or not word[0].isalnum()))
            own = own or self.own[position]
            named = named or (self.own[position] and word in self.names)
        return False

    def _is_pronoun(self, position: int) -> bool:
        language, word = self.language, self.words[position]
        if word not in language.pronouns:
            return False
        is_last = position + 1 == len(self.words)
        following = "" if is_last else self.words[position + 1]
        if word in language.articles:
            return is_last or not self.own[position + 1]
        if word in language.clauses and position > 0 and self.own[position - 1]:
            # "the lamp that smokes", but not "who wrote that, and when?"
            return not following[:1].isalnum() or following in language.clauses
        return True


def kind_of(turns: Sequence[Turn], index: Index) -> Kind:
    """What the last of the turns is; without an earlier question it is always a question."""
    text = turns[-1].content
    if not any(turn.role == "user" for turn in turns[:-1]) or len(text) > MAX_QUERY_LENGTH:
        return "question"
    message = _Message.of(text, index)
    if message.is_thanks():
        # What follows an offer ("Shall I go on?") accepts it.
        is_offered = turns[-2].content.rstrip().endswith("?") and "no" not in message.words
        return "follow_up" if is_offered else "acknowledgement"
    return "follow_up" if message.follows_up(index) else "question"


def can_be_told(text: str, index: Index) -> bool:
    """Whether `kind_of` knows the language of a message: else a follow-up reads as a question."""
    letters = _LETTER.findall(text)
    latin = sum(bool(_LATIN.match(letter)) for letter in letters)
    return index.tokenizer.language in LANGUAGES and 2 * latin >= len(letters)


def query_of(turns: Sequence[Turn], index: Index) -> str:
    """What to search for to answer a follow-up: what it refers to, and its own words if any.

    That is the question that began it, the follow-ups since, and the headings of the passage that
    the last answer cited first. What is too long loses its beginning first.
    """
    parts: list[str] = []
    for position in range(len(turns) - 1, -1, -1):
        turn, earlier = turns[position], turns[: position + 1]
        if turn.role != "user" or (kind := kind_of(earlier, index)) == "acknowledgement":
            continue
        text = " ".join(turn.content.split())
        if kind == "question":
            parts.append(text)
            break
        if len(parts) < MAX_FOLLOW_UPS and any(_Message.of(text, index).own):
            parts.append(text)
    # Of one passage: with those of several, what is nearest to the headings came before the answer.
    cited = next((turn.cited[0][:MAX_HEADING_LENGTH] for turn in reversed(turns) if turn.cited), "")
    query = " ".join([*reversed(parts), cited])
    return query[-MAX_QUERY_LENGTH:].strip()

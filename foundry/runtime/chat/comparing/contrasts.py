"""Detects negations and opposites between a sentence and similar ones.

A word is negated by what precedes it in its clause ("not", "without", "fails to"), or by a prefix
("uncapped") if the other side has it without that prefix. Word lists are English.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Stem = Callable[[str], str | None]
"""Returns the stem of a word in lower case; None for a word without meaning of its own."""

REACH = 6  # Maximum number of words between a negation and what it negates

_FIXED_PHRASES = re.compile(
    r"\b(?:not (?:only|just|merely|simply|least|to mention|until)|no (?:matter|doubt|wonder|problem"
    r"|(?:later|more|less|fewer|earlier|sooner) than|exceptions?|questions asked|strings attached"
    r"|worries)|(?:whether )?or not|if not|why not|without (?:fail|doubt|exception|question)"
    r"|none other than|more often than not|cannot but|nothing but|needless to say)\b",
    re.IGNORECASE,
)
# Phrases that negate as "not" does.
_AS_NOT = re.compile(
    r"\b(?:rather than|instead of|not because(?: of)?|no longer|(?:stop(?:s|ped)?|ceases?d?|quits?)"
    r"(?= \w+ing\b)|(?:keep|kept|prevent|stop|protect|hinder)\w*(?= (?:\S+ ){1,4}from\b))",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bnot (?P<between>(?:\S+ ){1,4})from\b")
_NOT = r"(?:\b(?:not|no|never|none|cannot|nothing)|n['\u2019]t)"
# A negation at the end of its clause, or one with an "until".
_OPEN_DENIAL = re.compile(
    rf"{_NOT}\W*(?:[.,;:!?)\u2014]|\Z)|{_NOT}\b[^.;]{{0,200}}\b(?:until|unless|except|before"
    r"|other than|only)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W\d_]+)*|[.,;:()!?\u2014|]")
_DENIALS = frozenset(
    "not no never without cannot none neither nor nobody nothing unable lack lacks lacking fail"
    " fails failed avoid avoids hardly".split()
)
_BORDERS = frozenset(
    "but although though because unless if when while whereas since so until before after than"
    " however only except".split()
)
_PREFIX = re.compile(
    r"(?:un|non-?)(?P<rest>[a-z]{4,})|(?:in|im|ir|il)(?P<quality>[a-z]{3,}(?:ble|al|ent|ant|ive|ate"
    r"|ect|ete|id|ous|ary|ure|ar|ite))|dis(?P<act>abled?|connect(?:ed)?|agree|allow(?:ed)?|appear"
    r"|approve|continue|like|engage|mount|honest|similar)"
)
_IRREGULAR = dict(
    pair.split(":")
    for pair in "ran:run written:write overwritten:overwrite taken:take given:give broken:break"
    " chosen:choose shown:show known:know grown:grow drawn:draw held:hold kept:keep sent:send"
    " built:build lost:lose made:make left:leave paid:pay sold:sell bought:buy found:find eaten:eat"
    " brought:bring thrown:throw worn:wear driven:drive fed:feed met:meet hidden:hide fallen:fall"
    " frozen:freeze stolen:steal rose:rise grew:grow fell:fall began:begin".split()
)
_OPPOSITE_WORDS = """
more/less,fewer most/least,fewest longer/shorter long/short longest/shortest higher/lower high/low
highest/lowest faster,quicker/slower fast,quick/slow fastest,quickest/slowest
quickly,rapidly/slowly larger,bigger,greater/smaller,lesser large,big/small,little
largest,biggest/smallest above,over/below,under,beneath before,prior/after,afterwards,following
earlier,sooner/later first/last early/late best/worst better/worse
always/never,rarely,seldom,sometimes often/rarely,seldom maximum/minimum max/min
inside,indoors,within/outside,outdoors left/right internal/external cheaper/dearer,costlier
cheap/expensive,costly easy,easier/hard,harder,difficult hot,warm/cold,cool
hotter,warmer/colder,cooler wet/dry full/empty heavy/light heavier/lighter near/far
nearer/farther deep/shallow thick/thin wide/narrow wider/narrower strong/weak stronger/weaker
upper/lower front/back,rear public/private manual,manually/automatic,automatically
required,mandatory,compulsory,obligatory/optional,voluntary safe/dangerous,unsafe,hazardous
same,identical/different alive/dead male,males/female,females day/night summer/winter
spring/autumn morning/evening success/failure legal,lawful/illegal,unlawful true/false
synchronous/asynchronous ascending/descending north,northern/south,southern
east,eastern/west,western horizontal,horizontally/vertical,vertically
clockwise/anticlockwise,counterclockwise
temporary,temporarily/permanent,permanently partial,partly,partially/complete,entirely,fully
free/paid local,locally/remote,remotely up,upwards/down,downwards older,oldest/newer,newest
younger/older positive/negative simple/complex,complicated odd/even
"""
_OPPOSITE_VERBS = """
increase,rise,grow,raise/decrease,reduce,drop,fall,shrink,lower exceed/undercut
enable,activate/disable,deactivate allow,permit/forbid,prohibit open/close,shut
start,begin/stop,end,finish add,keep,remain,stay,retain,preserve/remove,delete,discard,lose,erase
include/exclude,omit accept/reject,refuse upload/download encrypt/decrypt succeed,pass/fail
gain/lose import/export lock/unlock push/pull attach/detach expand/collapse show/hide buy/sell
win/lose connect/disconnect install/uninstall remember/forget attract/repel strengthen/weaken
"""


def _forms(verb: str) -> Iterator[str]:
    yield from (verb, f"{verb}s", f"{verb.removesuffix('e')}ed", f"{verb.removesuffix('e')}ing")
    yield from (form for form, base in _IRREGULAR.items() if base == verb)


Side = frozenset[str]


def _sides() -> Iterator[tuple[Side, Side]]:
    for pair in _OPPOSITE_WORDS.split():
        one, other = (frozenset(side.split(",")) for side in pair.split("/"))
        yield from ((one, other), (other, one))
    for pair in _OPPOSITE_VERBS.split():
        one, other = (
            frozenset(form for verb in side.split(",") for form in _forms(verb))
            for side in pair.split("/")
        )
        yield from ((one, other), (other, one))


_OPPOSITES: dict[str, list[tuple[Side, Side]]] = {}
for _own, _other in _sides():
    for _one in _own:
        _OPPOSITES.setdefault(_one, []).append((_own, _other))


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence in lower case, with its stem and whether it is negated."""

    text: str
    stem: str | None
    is_denied: bool
    reach: int  # Words with a stem between the negation and this one


def base_form(word: str) -> str:
    """Return the present tense of an irregular past form, or the word itself."""
    return _IRREGULAR.get(word, word)


def is_open(text: str) -> bool:
    """Return whether it is unclear what a sentence negates, as in "it does not"."""
    return _OPEN_DENIAL.search(_FIXED_PHRASES.sub(" ", text)) is not None


def read_words(text: str, stem: Stem, roots: Container[str | None]) -> list[Word]:
    """Return the words of a sentence; `roots` are the stems of all texts compared."""
    plain = _AS_NOT.sub("not", _FIXED_PHRASES.sub(" ", text))
    plain = _FROM.sub(r"\g<between>not", plain)
    words: list[Word] = []
    is_denied, is_joined, left, reach = False, False, 0, 0
    for token in _TOKEN.findall(plain):
        lowered = token.lower().replace("\u2019", "'")
        if lowered in _DENIALS or lowered.endswith("n't"):
            is_denied, left, reach = (not is_denied if left else True), REACH, 0
            continue
        if not token[0].isalnum() or lowered in _BORDERS:
            left = 0
        is_denied = is_denied and left > 0
        root, denies = _root(lowered, stem, roots)
        reach -= is_joined and root is not None
        words.append(Word(lowered, root, is_denied is not denies, reach if is_denied else 0))
        reach += root is not None
        left -= 1
        is_joined = lowered in ("or", "and", "nor") or (is_joined and root is None)
    return words


def _root(word: str, stem: Stem, roots: Container[str | None]) -> tuple[str | None, bool]:
    if found := _PREFIX.fullmatch(word):
        root = stem(found["rest"] or found["quality"] or found["act"])
        if root is not None and root in roots:
            return root, True
    return stem(word), False


def denied_stems(words: Iterable[Word]) -> dict[str, bool | None]:
    """Return whether each stem is negated; None if unclear, or if it differs by occurrence."""
    found: dict[str, bool | None] = {}
    for word in words:
        if word.stem is not None:
            is_denied = word.is_denied if word.reach <= 0 or not word.is_denied else None
            found[word.stem] = is_denied if found.get(word.stem, is_denied) is is_denied else None
    return found


def differently_denied(
    ours: Mapping[str, bool | None], theirs: Mapping[str, bool | None]
) -> set[str]:
    """Return the stems that one side negates and the other does not.

    If both sides do so for different stems, they may mean the same, and nothing is returned.
    """
    only_ours = {stem for stem, denied in ours.items() if denied and theirs.get(stem) is False}
    only_theirs = {stem for stem, denied in theirs.items() if denied and ours.get(stem) is False}
    return set() if only_ours and only_theirs else only_ours | only_theirs


def opposites(claim: Sequence[Word], place: Sequence[Word]) -> Iterator[str]:
    """Yield words of a claim whose opposite a sentence has, if both or neither are negated."""
    if _are_turned(claim, place):
        return
    ours = {word.text: word.is_denied for word in claim}
    theirs = {word.text: word.is_denied for word in place}
    for word, is_denied in ours.items():
        for own, other in _OPPOSITES.get(word, ()):
            if own.isdisjoint(theirs) and other.isdisjoint(ours):
                yield from (word for found in other & theirs.keys() if theirs[found] is is_denied)


def _are_turned(claim: Sequence[Word], place: Sequence[Word]) -> bool:
    """Return whether both make the same comparison with "than", with the sides swapped."""
    ours, theirs = (frozenset(word.stem for word in words) for words in (claim, place))
    our_end, their_end = map(_after_than, (claim, place))
    if our_end is None or their_end is None:
        return False
    return our_end != their_end and our_end in theirs and their_end in ours


def _after_than(words: Sequence[Word]) -> str | None:
    texts = [word.text for word in words]
    if "than" not in texts:
        return None
    return next((word.stem for word in words[texts.index("than") :] if word.stem), None)

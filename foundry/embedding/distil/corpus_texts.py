"""Draws query-like texts from a corpus, as training data for its query encoder.

There are no real queries yet, so the corpus provides substitutes: sentences, short spans, titles
and headings, questions about these and about key phrases, and identifiers.

The sample only depends on hashes of texts and a seed. Each text has the weight 1 / sqrt(number of
texts in its document): a long document contributes more than a short one, but less than in
proportion. The texts with the smallest priorities, hash / weight, are kept (priority sampling:
Duffield, Lund and Thorup 2007), so memory depends on the sample, not on the corpus.
"""

import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.index.tokens import Tokenizer

KINDS: Mapping[str, float] = {
    "sentence": 0.4,
    "span": 0.2,
    "heading": 0.15,
    "question": 0.2,
    "identifier": 0.05,
}
"""Shares of the sample; if a kind cannot fill its share, others get the rest."""

SENTENCE_CHARACTERS = (12, 300)
HEADING_CHARACTERS = (2, 120)
SPAN_WORDS = (2, 6)
PHRASE_WORDS = 4

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Characters of scripts without spaces, for a character class."""

_SENTENCE_END = re.compile(
    r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f\uff0e\u0964\u0965\u061f\u06d4])\s*|\n+"
)
_MARKUP = " \t#*>|`-=+_~"
_WORD = re.compile(rf"[{SPACELESS}]{{1,2}}|[^\s{SPACELESS}]+")
_PHRASE_WORD = re.compile(
    rf"[{SPACELESS}]{{1,2}}|[^\W{SPACELESS}]+(?:[-'\u2019.][^\W{SPACELESS}]+)*"
)

_FRAMES: Mapping[str, Sequence[str]] = json.loads(
    Path(__file__).with_name("question_frames.json").read_bytes()
)
"""Question frames by language; they teach the encoder that "what is" carries little meaning."""

_SCRIPTS = (
    (re.compile("[\u3040-\u30ff]"), "japanese"),
    (re.compile("[\u4e00-\u9fff]"), "chinese"),
    (re.compile("[\u0400-\u04ff]"), "russian"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
)

Words = Collection[str]
Hash = Callable[[str], int]


def chunk_text(chunk: ChunkRecord) -> str:
    """Return the text to embed for a chunk: its headings, one per line, then its text."""
    return embedded_text("\n".join(chunk.headings()), chunk.text)


def embedded_text(heading: str, text: str) -> str:
    """Return what a model embeds for a text: its heading, if there is one, and the text."""
    return f"{heading}\n{text}" if heading else text


def draw_chunks(
    chunks: Callable[[], Iterable[ChunkRecord]], count: int, *, seed: int
) -> list[ChunkRecord]:
    """Draw at most `count` chunks by `seed`, in their order.

    `chunks` returns all chunks, grouped by document; it is called twice.
    """
    sample = PrioritySample(count, seed, "chunk")
    for _, document in itertools.groupby(chunks(), key=lambda chunk: chunk.document_id):
        for chunk in document:
            sample.add(chunk.id)
        sample.end_document()
    drawn = frozenset(sample.texts())
    return [chunk for chunk in chunks() if chunk.id in drawn]


def draw_texts(
    chunks: Iterable[ChunkRecord], budget: int, *, seed: int, language: str, common_words: Words
) -> list[str]:
    """Draw at most `budget` distinct query-like texts, with all kinds mixed.

    Chunks are grouped by document. Questions are in `language`; `common_words`, case-folded, are
    excluded from key phrases.
    """
    samples = {kind: PrioritySample(budget, seed, kind) for kind in KINDS}
    tokenizer = Tokenizer("none")
    for _, document in itertools.groupby(chunks, key=lambda chunk: chunk.document_id):
        for chunk in document:
            for kind, text in _candidates(chunk, seed, language, common_words, tokenizer):
                samples[kind].add(text)
        for sample in samples.values():
            sample.end_document()
    return _mix({kind: sample.texts() for kind, sample in samples.items()}, budget, seed)


class PrioritySample:
    """A weighted sample, without replacement, of texts or ids, added by document."""

    def __init__(self, size: int, seed: int, name: str) -> None:
        self._size = size
        self._hash = hash_with(seed, name)
        self._document: dict[str, float] = {}
        self._seen = 0
        self._drawn: dict[str, float] = {}

    def add(self, text: str) -> None:
        """Add a text of the current document; repeated texts count once."""
        if text not in self._document:
            self._seen += 1
            self._document[text] = self._hash(text)
            if len(self._document) > 2 * self._size:
                self._document = _smallest(self._document, self._size)

    def end_document(self) -> None:
        """Finish the current document; the next text begins another one."""
        factor = math.sqrt(self._seen)
        for text, value in _smallest(self._document, self._size).items():
            priority = value * factor
            self._drawn[text] = min(priority, self._drawn.get(text, priority))
        if len(self._drawn) > 2 * self._size:
            self._drawn = _smallest(self._drawn, self._size)
        self._document, self._seen = {}, 0

    def texts(self) -> list[str]:
        """Return the sample by ascending priority."""
        return list(_smallest(self._drawn, self._size))


def hash_with(seed: int, name: str) -> Hash:
    """Return a hash function from texts to 64-bit integers, for a seed and a name."""
    key = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=32).digest()

    def hash_text(text: str) -> int:
        data = text.encode("utf-8", "replace")
        return int.from_bytes(hashlib.blake2b(data, digest_size=8, key=key).digest(), "big")

    return hash_text


def _smallest(priorities: Mapping[str, float], size: int) -> dict[str, float]:
    ranked = sorted((priority, text) for text, priority in priorities.items())
    return {text: priority for priority, text in ranked[:size]}


def _mix(drawn: Mapping[str, list[str]], budget: int, seed: int) -> list[str]:
    """Fill the budget by the kinds' shares, then with remaining texts of any kind."""
    taken: dict[str, None] = {}
    for kind, texts in drawn.items():
        taken.update(dict.fromkeys(texts[: int(budget * KINDS[kind])]))
    rest = itertools.zip_longest(*drawn.values())
    for text in itertools.chain.from_iterable(rest):
        if len(taken) >= budget:
            break
        if text is not None:
            taken[text] = None
    return sorted(taken, key=hash_with(seed, "order"))


def _candidates(
    chunk: ChunkRecord, seed: int, language: str, common_words: Words, tokenizer: Tokenizer
) -> Iterator[tuple[str, str]]:
    """Yield all candidate texts of a chunk, with their kinds."""
    shape = hash_with(seed, "shape")
    headings = [heading.strip() for heading in chunk.headings()]
    headings = [text for text in headings if _fits(text, HEADING_CHARACTERS)]
    for heading in headings:
        yield "heading", heading
        yield "question", frame_question(heading, language, shape(heading))
    if len(headings) > 1:
        yield "heading", f"{headings[-2]} {headings[-1]}"
    for sentence in _sentences(chunk.text):
        number = shape(sentence)
        yield "sentence", sentence
        yield "span", _span(sentence, number)
        phrase = key_phrase(sentence, common_words, number)
        if phrase:
            yield "question", frame_question(phrase, language, number)
            yield "span", phrase
    for token in tokenizer.tokenize(chunk.text):
        if token.is_identifier and len(token.text) <= HEADING_CHARACTERS[1]:
            yield "identifier", token.text


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(text):
        bare = sentence.strip(_MARKUP)
        if len(bare) > SENTENCE_CHARACTERS[1]:
            bare = bare[: SENTENCE_CHARACTERS[1]].rpartition(" ")[0] or bare
        if _fits(bare, SENTENCE_CHARACTERS):
            yield bare[: SENTENCE_CHARACTERS[1]]


def _fits(text: str, limits: tuple[int, int]) -> bool:
    # A character of a script without spaces counts as three letters.
    least, most = limits
    size = len(text) + 2 * sum(len(run) for run in re.findall(rf"[{SPACELESS}]+", text))
    return least <= size and len(text) <= most and any(map(str.isalpha, text))


def _span(sentence: str, number: int) -> str:
    """Return two to six consecutive words, chosen by a number; one if the sentence has no more."""
    words = list(_WORD.finditer(sentence))
    least, most = SPAN_WORDS
    length = min(len(words), least + number % (most - least + 1))
    start = (number // 64) % (len(words) - length + 1)
    return sentence[words[start].start() : words[start + length - 1].end()].strip(",;:()[]\"'")


def key_phrase(sentence: str, common_words: Words, number: int) -> str:
    """Return one of the runs of words between common words and punctuation, chosen by a number.

    (Rapid automatic keyword extraction: Rose et al. 2010.) Runs of more than PHRASE_WORDS words are
    split. Returns "" if no run has a suitable length.
    """
    runs: list[list[re.Match[str]]] = [[]]
    end = 0
    for word in _PHRASE_WORD.finditer(sentence):
        separate = sentence[end : word.start()].strip() != ""
        end = word.end()
        if word[0].casefold() in common_words:
            runs.append([])
            continue
        if separate or len(runs[-1]) == PHRASE_WORDS:
            runs.append([])
        runs[-1].append(word)
    phrases = [sentence[run[0].start() : run[-1].end()] for run in runs if run]
    phrases = [phrase for phrase in phrases if _fits(phrase, (4, HEADING_CHARACTERS[1]))]
    return phrases[number % len(phrases)] if phrases else ""


def frame_question(phrase: str, language: str, number: int) -> str:
    """Return a question about a phrase, chosen by a number.

    If the script identifies a language, that overrides `language` (as in foundry.toml); languages
    without frames use English.
    """
    written = next((name for script, name in _SCRIPTS if script.search(phrase)), language)
    frames = _FRAMES.get(written, _FRAMES["english"])
    return frames[number % len(frames)].replace("{}", phrase)

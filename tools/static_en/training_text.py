"""English text to train the default encoder on, read from a few named Debian packages.

Each source yields `Passage`s: a heading (or a defined word) and the text below it, of at most about
a thousand characters. `training_texts` converts passages to texts like those that a search embeds:
whole passages under their titles, sentences, definitions, single titles, and texts that look like
questions.
"""

import gzip
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

PASSAGE_CHARACTERS = 1000
SHORTEST_PARAGRAPH = 30

BLOCKS = frozenset("p li dd para simpara title h1 h2 h3 h4 h5 dt blockquote item".split())
HEADINGS = frozenset("title h1 h2 h3 h4 h5".split())
SKIPPED = frozenset(
    "script style nav header footer pre table info screen programlisting code-block".split()
)

QUESTION_FRAMES = (
    "What is {}?",
    "what does {} mean",
    "How does {} work?",
    "Which properties does {} have?",
    "Why is {} important?",
    "How can {} be used?",
    "information about {}",
    "What are the effects of {}?",
    "When was {} introduced, and what for?",
    "What is the difference between {} and {}?",
    "How is {} related to {}?",
)

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\"'])")
SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """Running text below a title, which may be empty."""

    title: str
    text: str


class _Blocks(HTMLParser):
    """Collects (is_heading, text) from HTML, DocBook or Mallard."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[tuple[bool, str]] = []
        self._parts: list[str] = []
        self._heading = False
        self._skipped = 0

    def _flush(self) -> None:
        text = SPACES.sub(" ", "".join(self._parts)).strip(" ¶#\n")
        if text:
            self.blocks.append((self._heading, text))
        self._parts = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag in SKIPPED:
            self._skipped += 1
        elif tag in BLOCKS:
            self._flush()
            self._heading = tag in HEADINGS

    def handle_endtag(self, tag: str) -> None:
        if tag in SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in BLOCKS:
            self._flush()
            self._heading = False

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._parts.append(data)


def marked_up_passages(path: Path) -> Iterator[Passage]:
    """Yield consecutive paragraphs below one heading of an HTML, DocBook or Mallard file."""
    parser = _Blocks()
    parser.feed(path.read_text(encoding="utf-8", errors="replace"))
    parser.close()
    title, gathered = "", ""
    for heading, text in [*parser.blocks, (True, "")]:
        if heading or len(gathered) + len(text) > PASSAGE_CHARACTERS:
            if len(gathered) >= SHORTEST_PARAGRAPH:
                yield Passage(title, gathered)
            gathered = ""
        if heading:
            title = re.sub(r"^[\dA-Z]{0,2}[\d.]*\.? ", "", text)[:120]
        elif len(text) >= SHORTEST_PARAGRAPH:
            gathered = f"{gathered} {text}".strip()[:PASSAGE_CHARACTERS]


def wordnet_passages(folder: Path) -> Iterator[Passage]:
    """Yield a passage for each synset: its words, and the gloss with its examples."""
    for name in ("noun", "verb", "adj", "adv"):
        for path in sorted(folder.rglob(f"data.{name}")):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                if line.startswith("  ") or " | " not in line:
                    continue
                fields, gloss = line.split(" | ", 1)
                columns = fields.split()
                words = [columns[4 + 2 * n].replace("_", " ") for n in range(int(columns[3], 16))]
                words = [re.sub(r"\((?:a|p|ip)\)$", "", word) for word in words]
                yield Passage(", ".join(words[:4]), gloss.strip())


def dictionary_passages(folder: Path) -> Iterator[Passage]:
    """Yield the entries of a dictd dictionary, without labels, sources and reference marks."""
    for path in sorted(folder.rglob("*.dict.dz")):
        title, lines = "", list[str]()
        body = gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")
        for line in [*body.splitlines(), "end"]:
            if line and not line.startswith(" "):
                if lines:
                    yield from _entry(title, lines)
                title, lines = line, []
            else:
                lines.append(line)


def _entry(title: str, lines: Sequence[str]) -> Iterator[Passage]:
    head = re.split(r"\s*[\\(\[,]", title)[0].strip()
    text = "\n".join(lines)
    text = re.sub(
        r"\[[^\]]*\]|<[a-z, /]+>|\{?\(https?:[^)]*\)\}?|--[A-Z][\w. ]*|\((?:19|20)[\d-]+\)",
        " ",
        text,
    )
    text = re.sub(r"\{([^}]*)\}", r"\1", text)
    text = re.sub(r"^\s*(?:\d+\.|\([a-z]\))\s*", "", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", text):
        paragraph = SPACES.sub(" ", paragraph).strip()
        if len(paragraph) >= SHORTEST_PARAGRAPH:
            yield Passage(head, paragraph[:PASSAGE_CHARACTERS])


def description_passages(path: Path) -> Iterator[Passage]:
    """Yield long descriptions of packages, from apt's Translation-en file as plain text."""
    for stanza in path.read_text(encoding="utf-8").split("\n\n"):
        match = re.search(r"^Description-en: (.*)\n((?: .*\n?)*)", stanza, flags=re.MULTILINE)
        if match is None or "debug symbols" in stanza or "transitional" in stanza:
            continue
        for paragraph in re.split(r"\n \.\n", match[2]):
            paragraph = SPACES.sub(" ", paragraph).strip()
            if len(paragraph) >= SHORTEST_PARAGRAPH:
                yield Passage(match[1], paragraph[:PASSAGE_CHARACTERS])


def _marked_up(pattern: str) -> Callable[[Path], Iterator[Passage]]:
    def read(folder: Path) -> Iterator[Passage]:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and re.search(pattern, path.as_posix()):
                yield from marked_up_passages(path)

    return read


@dataclass(frozen=True, slots=True)
class Source:
    """A package: how to read it, and the maximum number of its passages."""

    package: str
    licence: str
    read: Callable[[Path], Iterator[Passage]]
    most: int


SOURCES = (
    Source("wordnet-base", "WordNet", wordnet_passages, 120_000),
    Source("dict-gcide", "GPL-2+", dictionary_passages, 40_000),
    Source("dict-foldoc", "GFDL-1.1+", dictionary_passages, 20_000),
    Source("debian-handbook", "GPL-2+ or CC-BY-SA-3.0", _marked_up(r"/en-US/.*\.html$"), 4_000),
    Source("debian-reference-en", "GPL-2+", _marked_up(r"\.en\.html$"), 3_000),
    Source("postgresql-doc-15", "PostgreSQL", _marked_up(r"\.html$"), 8_000),
    Source(
        "python3.11-doc", "PSF-2", _marked_up(r"/html/(?!_|whatsnew/changelog).*\.html$"), 8_000
    ),
    Source("git-doc", "GPL-2", _marked_up(r"\.html$"), 4_000),
    Source("libreoffice-help-en-us", "MPL-2.0", _marked_up(r"/text/.*\.html$"), 6_000),
    Source("gimp-help-en", "GFDL-1.2+", _marked_up(r"\.html$"), 5_000),
    Source("apache2-doc", "Apache-2.0", _marked_up(r"\.html\.en|/en/.*\.html$"), 5_000),
    Source("octave-doc", "GPL-3+", _marked_up(r"\.html$"), 4_000),
    Source(
        "python-sklearn-doc", "BSD-3-Clause", _marked_up(r"/modules/(?!generated).*\.html$"), 3_000
    ),
    Source(
        "python-statsmodels-doc", "BSD-3-Clause", _marked_up(r"/(?!generated)[\w]+\.html$"), 3_000
    ),
    Source("gnome-user-docs", "CC-BY-SA-3.0", _marked_up(r"/help/C/.*\.page$"), 6_000),
    Source("gnucash-docs", "GFDL-NIV-1.1+", _marked_up(r"/C/.*(\.html|\.docbook|\.xml)$"), 6_000),
    Source("kstars-data", "GFDL-NIV-1.2+", _marked_up(r"/HTML/en/.*\.docbook$"), 3_000),
    Source("stellarium-data", "GPL-2+", _marked_up(r"description\.en\.utf8$"), 4_000),
    Source("calculix-ccx-doc", "GPL-2", _marked_up(r"\.html$"), 4_000),
    Source("kicad-doc-en", "GPL-3+", _marked_up(r"/en/.*\.html$"), 4_000),
    Source(
        "python-astropy-doc",
        "BSD-3-Clause",
        _marked_up(r"/html/(?!api/|_|changes).*\.html$"),
        4_000,
    ),
    Source("sqlite3-doc", "public domain", _marked_up(r"\.html$"), 6_000),
    Source("linux-doc-6.1", "GPL-2", _marked_up(r"/html/(?!translations).*\.html$"), 16_000),
    Source("r-doc-html", "GPL-2", _marked_up(r"\.html$"), 3_000),
    Source("apt descriptions", "as the packages", description_passages, 50_000),
)


def _order(seed: int, text: str) -> bytes:
    return hashlib.blake2b(f"{seed}:{text}".encode(), digest_size=8).digest()


def read_passages(packages: Path, descriptions: Path) -> dict[str, list[Passage]]:
    """Return all passages by source, in the order of its files, without repetitions.

    Args: packages: A folder with one unpacked package per subfolder. descriptions: apt's
    Translation-en list, uncompressed.
    """
    seen: set[str] = set()
    passages: dict[str, list[Passage]] = {}
    for source in SOURCES:
        place = descriptions if source.read is description_passages else packages / source.package
        fresh = passages[source.package] = []
        for passage in source.read(place):
            if passage.text not in seen:
                seen.add(passage.text)
                fresh.append(passage)
    return passages


def draw_passages(passages: dict[str, list[Passage]], seed: int) -> dict[str, list[Passage]]:
    """Return at most `Source.most` passages of each source, selected by hash."""
    drawn = {}
    for source in SOURCES:
        group = passages[source.package]
        group = sorted(group, key=lambda passage: _order(seed, passage.title + passage.text))
        drawn[source.package] = group[: source.most]
    return drawn


def sentences(text: str) -> list[str]:
    """Return the sentences of a passage; very short ones are joined to the previous one."""
    found: list[str] = []
    for sentence in SENTENCE_END.split(text):
        if found and len(found[-1]) < SHORTEST_PARAGRAPH:
            found[-1] += " " + sentence
        else:
            found.append(sentence)
    return found


def training_texts(passages: dict[str, list[Passage]], seed: int) -> list[str]:
    """Return the distinct texts that the student learns from, in an order that mixes all sources.

    A quarter of the long passages stay whole below their titles, as chunks are embedded; the others
    give a sentence or two each. Titles, and questions made from them, represent queries.
    """
    texts: dict[str, None] = {}
    titles: list[str] = []
    for group in passages.values():
        for passage in group:
            draw = _order(seed + 1, passage.title + passage.text)
            title = passage.title.strip()
            if 3 <= len(title) <= 100:
                titles.append(title)
            if len(passage.text) < 250 or draw[0] < 64:
                texts[f"{title}\n{passage.text}" if title and draw[1] < 160 else passage.text] = (
                    None
                )
                continue
            sentences = [
                s for s in SENTENCE_END.split(passage.text) if SHORTEST_PARAGRAPH <= len(s) <= 400
            ]
            start = draw[2] % max(1, len(sentences))
            for sentence in sentences[start : start + 1 + draw[3] % 2]:
                texts[sentence] = None
    titles = sorted(set(titles), key=lambda title: _order(seed + 2, title))
    for number, title in enumerate(titles[:60_000]):
        head = title.split(", ")[0]
        if number % 2:
            frame = QUESTION_FRAMES[number // 2 % len(QUESTION_FRAMES)]
            texts[frame.format(head, titles[-1 - number].split(", ")[0])] = None
        else:
            texts[head] = None
    return sorted(texts, key=lambda text: _order(seed + 3, text))

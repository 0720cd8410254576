"""Reads TTML, the subtitle format of broadcasters: text and speakers, in order of time."""

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.containers import xml_texts
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.formats.office.parts import texts_of
from foundry.readers.formats.packed import bare_tag, parse_xml
from foundry.readers.formats.subtitles import Cue, compose
from foundry.readers.notes import leave_out

MAX_DEPTH = 50
_CLOCK = re.compile(r"(\d{1,4}):(\d{2}):(\d{2}(?:\.\d{1,9})?)")
_OFFSET = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(h|ms|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_ID = "{http://www.w3.org/XML/1998/namespace}id"


def read(content: bytes) -> Reading:
    """Read the paragraphs in order of time, each line after its speaker's name.

    Raises UnreadableError for other XML, and for a file without paragraphs.
    """
    root = parse_xml(content)
    if bare_tag(root) != "tt":
        raise UnreadableError(Reason.NO_SUBTITLES)
    title, agents = "", dict[str, str]()
    for part in (each for head in root if bare_tag(head) == "head" for each in head.iter()):
        if bare_tag(part) == "title":
            title = title or " ".join(texts_of(part).split())
        elif bare_tag(part) == "agent":
            agents[part.get(_ID, "")] = " ".join(texts_of(part).split())
    cues: list[Cue] = []
    for part in root:
        if bare_tag(part) == "body":
            cues += _cues(part, agents, _voice(part, agents, ""), 0)
        else:
            leave_out(Omission.METADATA, texts_of(part))
    return compose(sorted(cues, key=lambda cue: cue.start), title)


def _cues(parent: Element, agents: Mapping[str, str], voice: str, depth: int) -> Iterator[Cue]:
    for element in parent:
        said_by = _voice(element, agents, voice)
        if bare_tag(element) == "p":
            begin = _seconds(element.get("begin") or _first_begin(element))
            stop, length = element.get("end"), element.get("dur")
            end = _seconds(stop) if stop else begin + _seconds(length or "")
            said = [(said_by, "")]
            _say(element, agents, said_by, said)
            lines = ((name, " ".join(text.split())) for name, text in said)
            yield Cue(begin, end, [each for each in lines if each[1]])
        elif depth < MAX_DEPTH:
            yield from _cues(element, agents, said_by, depth + 1)


def _say(
    element: Element, agents: Mapping[str, str], voice: str, said: list[tuple[str, str]]
) -> None:
    """Add the text of an element to the last line; a break or another speaker starts a new one."""

    def add(text: str | None) -> None:
        if said[-1][0] != voice:
            said.append((voice, ""))
        said[-1] = voice, said[-1][1] + (text or "")

    add(element.text)
    for child in element:
        name = bare_tag(child)
        if name == "br":
            said.append((voice, ""))
        elif name == "span":
            _say(child, agents, _voice(child, agents, voice), said)
        else:
            leave_out(Omission.METADATA, texts_of(child))
        add(child.tail)


def _voice(element: Element, agents: Mapping[str, str], voice: str) -> str:
    names = [value for key, value in element.attrib.items() if key.endswith("}agent")]
    return " ".join(agents.get(each) or each for each in names[0].split()) if names else voice


def _first_begin(element: Element) -> str:
    return next((each.get("begin", "") for each in element.iter() if each.get("begin")), "")


def _seconds(written: str) -> float:
    if clock := _CLOCK.match(written):
        return 3600 * int(clock[1]) + 60 * int(clock[2]) + float(clock[3])
    offset = _OFFSET.fullmatch(written)
    return float(offset[1]) * _SECONDS[offset[2]] if offset else 0.0


READER = FileReader(
    "timed-text/1",
    {},
    dict.fromkeys((".ttml", ".dfxp"), "application/ttml+xml"),
    read,
    texts=xml_texts,
)

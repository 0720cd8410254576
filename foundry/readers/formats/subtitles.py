"""Reads subtitles: text and speakers, with the time of each paragraph.

SubRip, WebVTT, YouTube's .sbv and SubStation Alpha are read here, TTML by `timed_text`.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import NamedTuple

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.containers import subtitle_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader, UnreadableError
from foundry.readers.notes import leave_out

PARAGRAPH_CHARS = 400
PAUSE = 4.0
"""Seconds of silence that start a new paragraph."""

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})(?:[.,:](\d{1,3}))?"
_TIMED = re.compile(_TIME)
_CUE = re.compile(rf"^[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}([^\n]*)$", re.MULTILINE)
# YouTube's .sbv has both times of a cue on one line, separated by a comma.
_SBV = re.compile(
    r"^[ \t]*(\d{1,4}:\d{2}:\d{2}\.\d{3}),(\d{1,4}:\d{2}:\d{2}\.\d{3})[ \t]*$", re.MULTILINE
)
_VOICE = re.compile(r"<v(?:\.[^\s<>]{1,100})?[ \t]+([^<>\n]{1,200})>")
_RUBY = re.compile(r"<rt>([^<>]{0,200})(?:</rt>)?")
_MARKUP = re.compile(r"</?[a-zA-Z0-9][^<>\n]{0,200}>|\{\\[^{}\n]{1,100}\}")
# The number of the next cue is on the line above its times.
_NUMBER = re.compile(r"\n[ \t]*\d{1,9}[ \t]*\n?\Z")
# YouTube writes `Kind: captions` below the signature.
_HEADER = re.compile(r"^(?:Kind|Language):.*$", re.MULTILINE)
_BLOCK = re.compile(r"^(NOTE|STYLE|REGION)\b[^\n]*(?:\n[^\n]+)*", re.MULTILINE)


_DIALOGUE = re.compile(r"(Dialogue|Comment):[ \t]*(.*)")
_FORMAT = re.compile(r"(?m)^\[Events\][^\[]{0,2000}?^Format:[ \t]*(.*)$")
_SCRIPT_TITLE = re.compile(r"(?m)^Title:[ \t]*(.*)$")
# The text after `\p1` consists of drawing commands. Other braces contain formats or remarks.
_DRAWN = re.compile(r"\{[^{}]{0,500}\\p[1-9][^{}]{0,500}\}([^{}]*)")
_BRACES = re.compile(r"\{([^{}]*)\}")


class Cue(NamedTuple):
    """Lines that are shown together, with their speakers, and start and end in seconds."""

    start: float
    end: float
    lines: list[tuple[str, str]]


def read(text: str) -> Reading:
    """Read the cues; lines repeated by rolling captions are read once.

    The speaker's name precedes the text. Raises UnreadableError for a file without cues.
    """
    if events := _FORMAT.search(text):
        found = _SCRIPT_TITLE.search(text, 0, events.start())
        cues = sorted(_events(text, events[1]), key=lambda cue: cue.start)
        return compose(cues, found[1] if found else "")
    text = _SBV.sub(r"\1 --> \2", text)
    written = list(_CUE.finditer(text))
    title = _title(text[: written[0].start()]) if written else ""
    return compose([*_cues(text, written, is_web=text.startswith("WEBVTT"))], title)


def _cues(text: str, cues: list[re.Match[str]], *, is_web: bool) -> Iterator[Cue]:
    for cue, following in zip(cues, [*cues[1:], None], strict=False):
        leave_out(Omission.ATTRIBUTE, cue[9])
        block = text[cue.end() : following.start() if following else len(text)]
        lines = [*_lines(block, is_last=following is None, is_web=is_web)]
        yield Cue(_seconds(cue.groups()[:4]), _seconds(cue.groups()[4:8]), lines)


def _events(text: str, order: str) -> Iterator[Cue]:
    """Yield the events of SubStation Alpha, whose fields are in this order."""
    names = [name.strip().lower() for name in order.split(",")]
    for line in text.split("\n"):
        event = _DIALOGUE.match(line)
        if event is None:
            leave_out(Omission.ATTRIBUTE, line)
            continue
        fields = dict(zip(names, event[2].split(",", len(names) - 1), strict=False))
        start, end = (_TIMED.match(fields.get(name, "").strip()) for name in ("start", "end"))
        if event[1] == "Comment" or start is None or end is None:
            leave_out(Omission.COMMENT, line)
            continue
        text_of = fields.get("text", "")
        for drawn in _DRAWN.finditer(text_of):
            leave_out(Omission.SCRIPT, drawn[1])
        text_of = _DRAWN.sub("", text_of)
        for braces in _BRACES.finditer(text_of):
            leave_out(Omission.COMMENT, "" if "\\" in braces[1] else braces[1])
        shown = _BRACES.sub("", text_of).replace("\\h", " ").replace("\\n", "\\N")
        voice = (fields.get("name") or fields.get("actor") or "").strip()
        lines = (" ".join(each.split()) for each in shown.split("\\N"))
        times = _seconds(start.groups()), _seconds(end.groups())
        yield Cue(*times, [(voice, each) for each in lines if each])


def compose(cues: Sequence[Cue], title: str) -> Reading:
    """Return the reading of cues. Raises UnreadableError if there are none."""
    if not cues:
        raise UnreadableError(Reason.NO_SUBTITLES)
    composer = Composer()
    said: list[str] = []
    shown: list[str] = []
    begin = silent_since = cues[0].start
    speaker = ""
    composer.text(title)
    for start, end, lines in cues:
        is_full = sum(map(len, said)) > PARAGRAPH_CHARS
        if said and (start - silent_since > PAUSE or is_full):
            composer.text(_paragraph(begin, said))
            said, speaker = [], ""
        if not said:
            begin = start
        for voice, line in lines:
            if line in shown:
                leave_out(Omission.DUPLICATE, line)
                continue
            if voice and voice != speaker:
                speaker = voice
                line = f"{voice}: {line}"
            said.append(line)
        # Rolling captions show the previous lines again above a new one.
        shown = [line for _, line in lines] or shown
        silent_since = end
    composer.text(_paragraph(begin, said))
    return composer.finish()


def _title(header: str) -> str:
    """Return the text after the WebVTT signature, without comments."""
    for block in _BLOCK.finditer(header):
        leave_out(Omission.COMMENT, block[0])
    for each in _HEADER.finditer(header):
        leave_out(Omission.METADATA, each[0])
    lines = _BLOCK.sub("", header).split("\n")
    first = lines[0].strip()
    return first.removeprefix("WEBVTT").strip(" -\t") if first.startswith("WEBVTT") else ""


def _lines(block: str, *, is_last: bool, is_web: bool) -> Iterator[tuple[str, str]]:
    """Yield the lines of a cue with their speakers; WebVTT's cues end at the first blank line."""
    shown = block if is_last else _NUMBER.sub("", block)
    if is_web:
        shown, _, rest = shown[1:].partition("\n\n")
        for note in _BLOCK.finditer(rest):
            leave_out(Omission.COMMENT, note[0])
        shown = "" if shown.startswith("\n") else shown
    voice = ""
    for line in shown.split("\n"):
        before, *voiced = _VOICE.split(_RUBY.sub(r"(\1)", line))
        for name, written in zip(("", *voiced[::2]), (before, *voiced[1::2]), strict=True):
            voice = unescape(name).strip() or voice
            text = " ".join(unescape(_MARKUP.sub("", written)).split())
            if text:
                yield voice, text


def _paragraph(begin: float, said: list[str]) -> str:
    minutes, seconds = divmod(int(begin), 60)
    text = " ".join(said)
    return f"[{minutes // 60:02}:{minutes % 60:02}:{seconds:02}] {text}" if text else ""


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds = (int(part or 0) for part in parts[:3])
    return 3600 * hours + 60 * minutes + seconds + int((parts[3] or "0").ljust(3, "0")) / 1000


_TYPES = {
    **{".srt": "application/x-subrip", ".vtt": "text/vtt", ".sbv": "text/x-sbv"},
    **dict.fromkeys((".ass", ".ssa"), "text/x-ssa"),
}
READER = Reader("subtitles/5", _TYPES, read, texts=subtitle_texts)

"""Subtitles (.srt, .vtt): what is said, in paragraphs that begin with their time."""

import re

from foundry.material import Reading
from foundry.material.reasons import Reason
from foundry.readers.accounting.containers import subtitle_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader, UnreadableError

PARAGRAPH_CHARS = 400
PAUSE = 4.0
"""Seconds of silence after which a new paragraph begins."""

_TIME = r"(?:(\d{1,4}):)?(\d{2}):(\d{2})[.,](\d{3})"
_CUE = re.compile(rf"^{_TIME}[ \t]+-->[ \t]+{_TIME}[^\n]*$", re.MULTILINE)
_MARKUP = re.compile(r"<[^<>\n]{1,200}>|\{\\[^{}\n]{1,100}\}")


def read(text: str) -> Reading:
    """Read the cues; lines that are shown again, as captions roll, are read once.

    Raises UnreadableError for a file without cues.
    """
    cues = list(_CUE.finditer(text))
    if not cues:
        raise UnreadableError(Reason.NO_SUBTITLES)
    composer = Composer()
    said: list[str] = []
    begin = silent_since = _seconds(cues[0].groups()[:4])
    for cue, following in zip(cues, [*cues[1:], None], strict=True):
        start, end = _seconds(cue.groups()[:4]), _seconds(cue.groups()[4:])
        shown = text[cue.end() : following.start() if following else len(text)].strip("\n")
        # A cue ends at the first blank line; the next one's number or name follows it.
        lines = [_MARKUP.sub("", line).strip() for line in shown.split("\n\n")[0].split("\n")]
        if said and (start - silent_since > PAUSE or sum(map(len, said)) > PARAGRAPH_CHARS):
            composer.text(_paragraph(begin, said))
            said = []
        if not said:
            begin = start
        for line in lines:
            if line and line not in said[-2:]:
                said.append(line)
        silent_since = end
    composer.text(_paragraph(begin, said))
    return composer.finish()


def _paragraph(begin: float, said: list[str]) -> str:
    minutes, seconds = divmod(int(begin), 60)
    text = " ".join(said)
    return f"[{minutes // 60:02}:{minutes % 60:02}:{seconds:02}] {text}" if text else ""


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in parts)
    return 3600 * hours + 60 * minutes + seconds + thousandths / 1000


_TYPES = {".srt": "application/x-subrip", ".vtt": "text/vtt"}
READER = Reader("subtitles/1", _TYPES, read, texts=subtitle_texts)

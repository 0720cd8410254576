"""LaTeX: the text between its commands, with its sections as outline."""

import re

from foundry.material import Reading
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader
from foundry.readers.dates import normalise_date

_LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
}
_COMMENT = re.compile(r"(?<!\\)%[^\n]*+\n?[ \t]*")
_ARGUMENT = r"\{((?:[^{}]|\{[^{}]{0,200}\}){1,500})\}"
_SECTION = re.compile(rf"\\({'|'.join(_LEVELS)})\*?(?:\[[^\[\]]{{0,300}}\])?{_ARGUMENT}")
_TITLE = re.compile(rf"\\title(?:\[[^\[\]]{{0,300}}\])?{_ARGUMENT}")
_DATE = re.compile(r"\\date\{([^{}]{1,60})\}")
_VERBATIM = re.compile(
    r"\\begin\{(verbatim\*?|lstlisting|minted|equation\*?|align\*?|tabular\*?|figure\*?)\}"
)
_DROPPED = re.compile(
    r"[~ ]?\\(?:label|cite\w{0,10}|ref|eqref|pageref|includegraphics|bibliography\w{0,10}"
    r"|usepackage|vspace|hspace|index|input|include)\*?(?:\[[^\[\]]{0,300}\]){0,2}\{[^{}]{0,500}\}"
)
_WRAPPED = re.compile(r"\\[a-zA-Z]{2,30}\*?(?:\[[^\[\]\n]{0,200}\])?\{([^{}\\]{0,1000}+)\}")
_QUANTITY = re.compile(
    r"\\(?:SI|qty)(?:\[[^\[\]\n]{0,200}\])?\{([^{}\n]{0,100})\}\{([^{}\n]{0,100})\}"
)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[^{}]{1,50}\}(?:\[[^\[\]]{0,200}\])?")
_COMMAND = re.compile(r"\\(?:maketitle|tableofcontents|centering|noindent|\\)[ \t]*(?![a-zA-Z])")
_ITEM = re.compile(r"\\item(?![a-zA-Z])[ \t]*")
_ESCAPED = re.compile(r"\\([%&_#${}])")
_PASSES = 3
"""How many levels of commands within commands are unwrapped."""


def read(text: str) -> Reading:
    """Read a document's body; formulas, tables and listings stay as they are written."""
    source = _COMMENT.sub("", text)
    preamble, begin, body = source.partition(r"\begin{document}")
    if not begin:
        preamble, body = "", source
    body = body.partition(r"\end{document}")[0]
    titled = _TITLE.search(preamble) or _TITLE.search(body)
    title = " ".join(_plain(titled[1]).split()) if titled else None
    dated = _DATE.search(preamble)
    composer = Composer()
    if title:
        composer.heading(1, title)
    position = 0
    for match in _SECTION.finditer(body):
        _add_text(composer, body[position : match.start()])
        composer.heading(_LEVELS[match[1]], _plain(match[2]))
        position = match.end()
    _add_text(composer, body[position:])
    return composer.finish(title=title, modified=normalise_date(dated[1]) if dated else None)


def _add_text(composer: Composer, source: str) -> None:
    position = 0
    unclosed: set[str] = set()
    for match in _VERBATIM.finditer(source):
        if match.start() < position or match[1] in unclosed:
            continue
        ending = rf"\end{{{match[1]}}}"
        end = source.find(ending, match.end())
        if end < 0:
            unclosed.add(match[1])
            continue
        composer.text(_plain(source[position : match.start()]))
        position = end + len(ending)
        composer.text(source[match.start() : position], is_block=True)
    composer.text(_plain(source[position:]))


def _plain(source: str) -> str:
    text = _DROPPED.sub("", source)
    text = _ENVIRONMENT.sub("", _QUANTITY.sub(r"\1 \2", text))
    for _ in range(_PASSES):
        text = _WRAPPED.sub(r"\1", text)
    text = _COMMAND.sub("", _ITEM.sub("- ", text))
    text = _ESCAPED.sub(r"\1", text).replace("~", " ")
    return re.sub(r"\n{3,}", "\n\n", text)


READER = Reader("latex/2", dict.fromkeys((".tex", ".latex", ".ltx"), "text/x-tex"), read)

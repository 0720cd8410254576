"""Source code and structured data: text, with the outline that a parser of its language finds.

Without one, or where it fails, the text is cut between what begins at the margin.
"""

import re
from collections.abc import Iterator

from foundry.readers.code.outline import READERS as OUTLINES
from foundry.readers.contract import Reader, UnreadableError
from foundry.records import Reading, Span

_LANGUAGES = {
    "ada": ".adb .ads",
    "assembly": ".asm .s",
    "batch": ".bat .cmd",
    "c": ".c .h",
    "clojure": ".clj .cljs .edn",
    "cmake": ".cmake CMakeLists.txt",
    "cpp": ".cc .cpp .cxx .hh .hpp .hxx .ipp .inl",
    "csharp": ".cs",
    "css": ".css .less .sass .scss",
    "d": ".d",
    "dart": ".dart",
    "dockerfile": ".dockerfile Dockerfile Containerfile",
    "elixir": ".ex .exs",
    "elm": ".elm",
    "erlang": ".erl .hrl",
    "fortran": ".f .f90 .f95 .for",
    "fsharp": ".fs .fsi .fsx",
    "go": ".go go.mod",
    "graphql": ".graphql .gql",
    "groovy": ".groovy .gradle Jenkinsfile",
    "haskell": ".hs .lhs",
    "hcl": ".hcl .tf",
    "ini": ".cfg .conf .ini .properties",
    "java": ".java",
    "javascript": ".cjs .js .jsx .mjs",
    "json": ".json5 .jsonc .jsonl .ndjson",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "lisp": ".el .lisp .lsp .scm .rkt",
    "lua": ".lua",
    "make": ".mk Makefile GNUmakefile",
    "matlab": ".m",
    "nim": ".nim",
    "nix": ".nix",
    "objective-c": ".mm",
    "ocaml": ".ml .mli",
    "pascal": ".pas .pp",
    "perl": ".pl .pm",
    "php": ".php",
    "powershell": ".ps1 .psm1 .psd1",
    "protobuf": ".proto",
    "python": ".py .pyi .pyw",
    "r": ".r",
    "ruby": ".rb .rake Gemfile Rakefile",
    "rust": ".rs",
    "scala": ".sc .scala",
    "shell": ".bash .sh .zsh .fish",
    "solidity": ".sol",
    "sql": ".sql",
    "svelte": ".svelte",
    "swift": ".swift",
    "tcl": ".tcl",
    "typescript": ".cts .mts .ts .tsx",
    "vb": ".bas .vb .vbs",
    "verilog": ".sv .v",
    "vhdl": ".vhd .vhdl",
    "vue": ".vue",
    "xml": ".xsd .xsl .xslt .svg .plist .csproj .vcxproj",
    "zig": ".zig",
}
# A definition starts at the margin after a blank line, with anything but a closing bracket.
_DEFINITION = re.compile(r"(?<=\n\n)(?=[^\s)\]}])")

MINIFIABLE = frozenset(("css", "javascript", "typescript"))
MINIFIED_CHARS = 20_000
MINIFIED_LINE_CHARS = 1_000
"""Characters a line, on average, from which on code is not written for people."""


def read(text: str) -> Reading:
    """Read source code; there is no title, and every top-level region is a block."""
    return Reading(text=text, blocks=tuple(_find_regions(text)))


def _read_written(text: str) -> Reading:
    if len(text) > MINIFIED_CHARS and len(text) > MINIFIED_LINE_CHARS * (text.count("\n") + 1):
        raise UnreadableError("minified code", f"{len(text)} characters")
    return read(text)


def _find_regions(text: str) -> Iterator[Span]:
    start = 0
    for match in _DEFINITION.finditer(text):
        if text[start : match.start()].strip():
            yield Span(start, match.start())
        start = match.start()
    if text[start:].strip():
        yield Span(start, len(text))


def _make_reader(language: str, names: str) -> Reader:
    outline = OUTLINES.get(language)
    return Reader(
        version=f"code-{language}/1" if outline else "code/1",
        media_types={name.lower(): f"text/x-{language}" for name in names.split()},
        read=_read_written if language in MINIFIABLE else read,
        outline=outline,
    )


READERS = tuple(_make_reader(language, names) for language, names in _LANGUAGES.items())

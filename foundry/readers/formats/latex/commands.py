"""Properties of LaTeX commands and environments that the reader uses."""

LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}

REFERENCES = frozenset("ref eqref pageref autoref nameref vref Vref cref Cref".split())
"""Commands that print the number or title of the element with a label."""

FRAME_LEVEL = 4
"""Level of the titles of slides, below subsections."""

DROPPED = {
    **dict.fromkeys(
        "label includegraphics includesvg includepdf bibliography bibliographystyle".split(), 1
    ),
    **dict.fromkeys("usepackage documentclass RequirePackage PassOptionsToPackage".split(), 1),
    **dict.fromkeys("vspace hspace vskip hskip index input include subfile import".split(), 1),
    **dict.fromkeys("graphicspath pagestyle thispagestyle hypersetup selectlanguage".split(), 1),
    **dict.fromkeys("color raisebox parbox scalebox rotatebox pagenumbering lstset".split(), 1),
    **dict.fromkeys("tikzset pgfplotsset theoremstyle newcounter".split(), 1),
    **dict.fromkeys("cmidrule cline nocite hyphenation addbibresource newlength".split(), 1),
    **dict.fromkeys("foreignlanguage stepcounter refstepcounter arabic roman alph".split(), 1),
    **dict.fromkeys(
        "textcolor colorbox hypertarget hyperlink vphantom phantom hphantom".split(), 1
    ),
    **dict.fromkeys("setlength addtolength fontsize resizebox".split(), 2),
    **dict.fromkeys("rule pdfbookmark setbeamertemplate setbeamercolor fcolorbox".split(), 2),
    **dict.fromkeys("newenvironment renewenvironment definecolor addcontentsline".split(), 3),
    **dict.fromkeys("usetheme usecolortheme usetikzlibrary geometry texorpdfstring".split(), 1),
    **dict.fromkeys("captionsetup sisetup".split(), 2),
}
"""Number of leading arguments that are not text."""

DEFINING = frozenset("newcommand renewcommand providecommand DeclareMathOperator def".split())

CONDITIONS = frozenset(
    "if ifcase ifcat ifcsname ifdefined ifdim iffalse ifhmode ifmmode ifnum ifodd iftrue"
    " ifvmode ifx".split()
)
"""Conditionals of TeX itself, each ended by `fi`."""

ARGUMENTS = {
    **dict.fromkeys("tabular array longtable minipage multicols thebibliography".split(), 1),
    **dict.fromkeys("supertabular adjustbox spacing CJK".split(), 1),
    **dict.fromkeys("tabular* tabularx tabulary wrapfigure wraptable list xltabular".split(), 2),
    **dict.fromkeys("subfigure subtable column".split(), 1),
}
"""Number of arguments of an environment that are not text."""

TABLES = frozenset("tabular tabular* tabularx tabulary longtable supertabular xltabular".split())
FLOATS = frozenset("figure figure* table table* wrapfigure wraptable subfigure subtable".split())
LISTS = {"itemize": "-", "enumerate": "1", "description": "", "thebibliography": "-", "list": "-"}
THEOREMS = {
    name: name.capitalize()
    for name in (
        *("theorem", "lemma", "definition", "proposition", "corollary", "remark", "example"),
        *("proof", "conjecture", "exercise", "claim", "notation", "axiom", "solution", "abstract"),
    )
}
"""Environments that print their names, in most classes and packages."""

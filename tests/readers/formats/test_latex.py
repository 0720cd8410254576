"""LaTeX: printed text is read, and instructions to LaTeX are not."""

import pytest
from document_files import read_document

from foundry.documents import Document, RawDocument
from foundry.readers import read


def read_body(body: str, preamble: str = "") -> Document:
    source = f"\\documentclass{{book}}{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    return read_document(source, "a.tex")


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (r"na\"{\i}ve r\^ole, \v{S}koda, \c Cesme, \r{a}", "naïve rôle, Škoda, Çesme, å"),
        (r"\AA ngstr\"om {\ss} \O re \oe uvre", "Ångström ß Øre œuvre"),
        ("``so'' -- 3--4 --- it~is", "\u201cso\u201d \u2013 3\u20134 \u2014 it is"),
        (r"50\% of \$5 \& \#1 in a\_b", "50% of $5 & #1 in a_b"),
        (r"hy\-phen and \LaTeX{} now", "hyphen and LaTeX now"),
        (r"a\textsuperscript{b} 10\textsuperscript{6}", "ab 10^6"),
        (r"see \href{https://e.org/a\%20b}{the \emph{page}}", None),
        (r"\url{https://e.org/~ann} ends", "https://e.org/~ann ends"),
        (r"it \verb|100% {sure}| is", "it `100% {sure}` is"),
        (r"word\footnote{A \emph{note}.} goes on", "word (A note.) goes on"),
        (r"red \textcolor{red}{words} \color{blue}stay", "red words stay"),
        (r"\unknown[opt]{one}{two} three", "one two three"),
        (r"as Knuth~\cite[p.~5]{k84} says~\ref{x}.", "as Knuth [k84, p. 5] says [x]."),
        (r"price $5 $ and $x^2$", "price $5 $ and $x^2$"),
        (r"\lstinline!a%b! \mintinline{c}{d % e}", "`a%b` `d % e`"),
        (r"\makebox[3cm][c]{mid} \iffalse old \ifx a\b x\fi\fi new", "mid new"),
        (r"\iffalse old\else new\fi, \iffalse unended", "new, unended"),
        (r"\begin{tabbing}a \= b \\ c \> d\end{tabbing} \=u", "a b\nc d\n\nū"),
        ("100 % no comment in it\nwords", "100 words"),
    ],
)
def test_text(written: str, printed: str | None) -> None:
    text = read_body(written).reading.text
    assert text == (printed or "see [the page](https://e.org/a%20b)")


def test_defined_commands_are_expanded() -> None:
    preamble = (
        "\\newcommand{\\tool}{Press\\emph{works}}\\newcommand*{\\key}[2][Ctrl]{#1-#2}"
        "\\def\\pair#1#2{#2 before #1}"
    )
    body = r"\tool{} and \tool: \key{C}, \key[Alt]{F4}, \pair{b}{a}"
    assert read_body(body, preamble).reading.text == (
        "Pressworks and Pressworks: Ctrl-C, Alt-F4, a before b"
    )


def test_endless_expansion_is_stopped() -> None:
    preamble = r"\newcommand{\a}{\b\b}\newcommand{\b}{\a\a}"
    assert read_body(r"before \a after", preamble).reading.text.startswith("before")


def test_titles_with_nested_commands() -> None:
    document = read_body(r"\section[Short]{A \emph{b \textbf{c \textit{d}}} e}" + "\nText.")
    assert [(h.level, h.text) for h in document.reading.headings] == [(2, "A b c d e")]


def test_listings_are_kept_unchanged() -> None:
    body = (
        "\\begin{lstlisting}[language=Python, caption={One}]\nx = 7 % 2  # {\n\\end{lstlisting}\n"
        '\\begin{minted}[linenos]{go}\nf("%d")\n\\end{minted}\n'
        "\\begin{Verbatim}\n  100% \\sure\n\\end{Verbatim}\n"
    )
    reading = read_body(body).reading
    assert [reading.text[block.start : block.end] for block in reading.blocks] == [
        "```python\nx = 7 % 2  # {\n```",
        '```go\nf("%d")\n```',
        "```\n  100% \\sure\n```",
    ]


def test_lists_keep_their_numbers_and_terms() -> None:
    body = (
        "\\begin{enumerate}\\item One\\begin{itemize}\\item Inner\\end{itemize}\\item Two"
        "\\end{enumerate}\\begin{description}\\item[Oak] A \\emph{tree}.\\end{description}"
    )
    lines = [line for line in read_body(body).reading.text.split("\n") if line]
    assert lines == ["1. One", "  - Inner", "2. Two", "- Oak: A tree."]


def test_merged_cells_are_filled() -> None:
    body = (
        "\\begin{table}[ht]\\centering\\begin{tabular}{l|rr}\\toprule\n"
        "Area & \\multicolumn{2}{c}{Sold} \\\\ \\cmidrule(lr){2-3}\n"
        "\\multirow{2}{*}{North} & Plum & 1\\,200 \\\\\n & Fig & 5\\% \\\\ \\bottomrule\n"
        "\\end{tabular}\\caption{Sales}\\end{table}"
    )
    text = read_body(body).reading.text
    assert text.split("\n") == [
        "| Area | Sold | Sold |",
        "| --- | --- | --- |",
        "| North | Plum | 1 200 |",
        "| North | Fig | 5% |",
        "",
        "Sales",
    ]


def test_theorems_have_their_kind() -> None:
    preamble = r"\newtheorem{satz}{Satz}"
    body = (
        "\\begin{satz}[Euler]Words.\\end{satz}\n\\begin{proof}Easy.\\end{proof}\n"
        "\\begin{abstract}Short.\\end{abstract}"
    )
    text = read_body(body, preamble).reading.text
    assert text.split("\n\n") == ["Satz (Euler). Words.", "Proof. Easy.", "Abstract. Short."]


def test_left_out_text_is_reported() -> None:
    body = "Text \\label{sec:one}here. % aside\n\\begin{tikzpicture}\\draw (0,0);\\end{tikzpicture}"
    told = {(each.reason.value, each.text.strip()) for each in read_body(body).reading.left_out}
    assert {("attribute", "sec:one"), ("comment", "% aside"), ("script", r"\draw (0,0);")} <= told


@pytest.mark.parametrize(
    "source",
    [
        "{" * 50_000,
        r"\emph{" * 20_000 + "}" * 20_000,
        r"\verb|" * 20_000,
        "$" * 50_001,
        r"\a[" * 20_000,
    ],
)
def test_unclosed_markup_is_read(source: str) -> None:
    assert read(RawDocument("s", "a.tex", "a.tex", f"words {source}".encode()))


def test_lists_continue_from_a_set_number() -> None:
    text = read_body(
        r"\begin{enumerate}\setcounter{enumi}{2}\item c\item d\end{enumerate}"
        r"\begin{enumerate}[resume]\item e\end{enumerate}"
        r"\begin{enumerate}[start=9]\item i\end{enumerate}"
    ).reading.text
    assert text.split() == "3. c 4. d 5. e 9. i".split()


def test_captions_of_listings_are_printed() -> None:
    options = "[language=C,caption={The \\emph{press}},label=x]"
    code = f"\\begin{{lstlisting}}{options}\nint x;\n\\end{{lstlisting}}"
    assert read_body(code).reading.text == "The press\n\n```c\nint x;\n```"


def test_arguments_that_are_not_printed_are_reported() -> None:
    document = read_body(
        r"\section[short]{Erd\H{o}s} na\"ive caf\'{e} \caption[brief]{Long}"
        r"\begin{tabular}{ll}\multicolumn{2}{c}{Wide}\\[4mm] \multirow{3}{*}{Tall} & x\end{tabular}"
    )
    told = " ".join(each.text for each in document.reading.left_out)
    assert {"short", "brief", "4mm", "3"} <= set(told.split())
    assert document.reading.unaccounted == ()


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("A \\emph{type}\n\\indexsee{kind}{type}%\nof things.", "A type\nof things."),
        ("a type \\index{type}of it~\\cite{x}, so", "a type of it [x], so"),
        ("\\mark{blank}%\nWe may", "blank We may"),
        ("\\ifx\\a\\b Cond\\fi", "Cond"),
        ("\\only<1-2>{Shown} \\SIrange{1}{2}{\\metre}", "Shown 1 to 2 metre"),
        ("\\begin{minipage}[t]{3cm}Mini\\end{minipage}", "Mini"),
        ("\\begin{tcolorbox}[title=Box title]\nIn it\n\\end{tcolorbox}", "Box title\n\nIn it"),
    ],
)
def test_options_and_index_entries_are_not_text(written: str, printed: str) -> None:
    document = read_body(written)
    assert document.reading.text == printed
    assert document.reading.words is not None and document.reading.words.unaccounted == 0


def test_long_tables_have_one_header() -> None:
    source = (
        "\\begin{longtable}{ll}\\caption{Prices}\\\\ Fruit & Kg \\\\ \\endfirsthead\n"
        "Fruit & Kg \\\\ \\endhead\nPlum & 1 \\\\ \\end{longtable}"
    )
    shown = "Prices\n\n| Fruit | Kg |\n| --- | --- |\n| Plum | 1 |"
    assert read_body(source).reading.text == shown


def test_margin_notes_are_separate_words() -> None:
    assert read_body("Word\\marginpar{note} more").reading.text == "Word (note) more"


def test_slides_are_sections_of_their_own() -> None:
    body = (
        "\\section{A}\n\\begin{frame}<1->[fragile]{First \\emph{one}}{Sub}Words.\\end{frame}\n"
        "\\begin{frame}\\frametitle{Second}More.\\end{frame}\n\\begin{frame}None.\\end{frame}\n"
    )
    reading = read_body(body).reading
    outline = [(each.level, each.text) for each in reading.headings]
    assert outline == [(2, "A"), (4, "First one"), (4, "Second"), (4, "")]
    assert reading.text.index("None.") >= reading.headings[-1].start


def test_captions_of_subfigures_and_titles_of_boxes_are_read() -> None:
    body = (
        "\\begin{figure}\\subfloat[First \\emph{part}\\label{a}]{\\includegraphics{x}}\n"
        "\\subcaptionbox{Second part}{\\includegraphics{y}}\\captionof{table}{Of it}\\end{figure}\n"
        "\\begin{mybox}{Careful}Hot.\\end{mybox}"
    )
    said = read_body(body).reading.text.split()
    assert said == "First part Second part Of it Careful Hot.".split()


def test_references_show_their_labels_and_listed_files_are_linked() -> None:
    source = r"See Figure~\ref{fig:a} and \cref{sec:b}.\label{x}"
    assert read_body(source).reading.text == "See Figure [fig:a] and [sec:b]."
    listed = r"\lstinputlisting[caption={Ripe plums},language=C]{src/plum.c}"
    assert read_body(listed).reading.text == "Ripe plums\n\n[src/plum.c](src/plum.c)"


def test_citations_are_shown_by_their_keys_and_notes() -> None:
    source = r"\citep[see][p.~5]{knuth, lamport} and \autocite{a}, \nocite{b} \citet[ch.\ 2]{c}."
    assert read_body(source).reading.text == "[see knuth, lamport, p. 5] and [a], [c, ch. 2]."


def test_authors_are_below_the_title() -> None:
    source = (
        r"\title{Plums}\author{Ann Lee\thanks{Supported.} \and Bob \'Oak}\author[2]{Cy}"
        "\\begin{document}Words.\\end{document}"
    )
    assert read_document(source, "a.tex").reading.text == (
        "# Plums\n\nAnn Lee (Supported.), Bob \u00d3ak\nCy\n\nWords."
    )


def test_pseudocode_keeps_its_words_and_lines() -> None:
    body = (
        "\\begin{algorithm}[H]\\caption{Pick}\\label{a}\\begin{algorithmic}[1]\n"
        "\\Require $n > 0$\n\\While{$n$ left}\n  \\If{ripe}\n \\State pick it \\Comment{by hand}\n"
        "  \\Else\n \\State \\Return $n$\n  \\EndIf\n\\EndWhile\n"
        "\\Procedure{Plant}{$a, b$}\\State \\Call{Dig}{$a$}\\EndProcedure\n"
        "\\end{algorithmic}\\end{algorithm}"
    )
    assert read_body(body).reading.text == (
        "Pick\n\n```\nRequire: $n > 0$\nwhile $n$ left do\n  if ripe then\n    pick it // by hand\n"
        "  else\n    return $n$\n  end if\nend while\nprocedure Plant($a, b$)\n  Dig($a$)\n"
        "end procedure\n```"
    )


def test_pseudocode_of_algorithm2e_keeps_its_words_and_lines() -> None:
    body = (
        "\\begin{algorithm}\\SetKwFunction{FDig}{Dig}\\SetKwInOut{Input}{Input}\n"
        "\\KwData{a tree}\\Input{a spade}\n\\FDig{tree}\\;\n\\For{$i \\gets 1$ \\KwTo $n$}{\n"
        "  \\eIf{ripe}{\n pick\\tcp*{by hand}\n }{\n wait\\;\n }\n}\n"
        "\\Repeat{done}{prune\\;}\\caption{Pick}\\end{algorithm}"
    )
    reading = read_body(body).reading
    assert reading.text == (
        "Pick\n\n```\nData: a tree\nInput: a spade\nDig(tree)\nfor $i \\gets 1$ to $n$ do\n"
        "  if ripe then\n    pick // by hand\n  else\n    wait\nrepeat\n  prune\nuntil done\n```"
    )


def test_abbreviations_are_in_full_where_they_are_first_used() -> None:
    preamble = (
        "\\newacronym{cpu}{CPU}{central processing unit}"
        "\\newglossaryentry{tree}{name=tree,description={a \\emph{tall} plant}}"
    )
    body = "A \\gls{cpu} or \\acrshort{cpu} and \\glspl{tree} of \\gls{none}.\n\\printglossaries"
    assert read_body(body, preamble).reading.text == (
        "A central processing unit (CPU) or CPU and trees of none.\n\n"
        "- CPU: central processing unit\n- tree: a tall plant"
    )


def test_texts_in_drawings_are_read() -> None:
    body = (
        "\\begin{tikzpicture}\\node[draw] (a) {Plant};\\draw (a) -- (b) node {in $3$ years};\n"
        "\\begin{axis}[xlabel=Time, ylabel={Height (m)}]\\end{axis}\\end{tikzpicture}"
    )
    assert read_body(body).reading.text == "Plant in $3$ years Time Height (m)"


def test_prefixes_of_units_are_part_of_the_unit() -> None:
    assert read_body(r"\SI{10}{\kilo\metre\per\hour}").reading.text == "10 kilometre per hour"

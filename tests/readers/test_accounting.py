"""Every word of a document is in its text, or left out for a reason, or counted as lost."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from document_files import Text, pdf
from hypothesis import given
from hypothesis import strategies as st

from foundry.documents import Document, RawDocument
from foundry.documents.left_out import LeftOut, Omission
from foundry.readers import read
from foundry.readers.accounting.containers import html_texts, xml_texts
from foundry.readers.accounting.words import account, count_words


def counts(source: str, text: str, *left_out: LeftOut) -> tuple[int, int, dict[str, int], int]:
    found, _ = account([source], [text], left_out)
    return found.source, found.read, dict(found.left_out), found.unaccounted


def test_words_are_runs_of_letters_and_digits() -> None:
    assert count_words(
        "The end: THE_end, stra\u00dfe; \uff21\uff22 \ufb01ne so\u00adft"
    ) == Counter({"the": 2, "end": 2, "strasse": 1, "ab": 1, "fine": 1, "soft": 1})


def test_words_are_read_left_out_or_lost() -> None:
    menu = LeftOut(Omission.NAVIGATION, "Home Docs")
    assert counts("Home Docs One two two", "one two", menu) == (5, 2, {"navigation": 2}, 1)


def test_repeated_word_that_is_read_once_is_lost_once() -> None:
    assert counts("never never", "never") == (2, 1, {}, 1)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("un believ able", "unbelievable"),
        ("106 units", "10^6 units"),
        ("extraor dinary", "extraordinary"),
        ("userid", "user_id"),
    ],
)
def test_joined_and_divided_words_count_as_read(source: str, text: str) -> None:
    assert counts(source, text)[3] == 0


def test_joined_words_may_have_a_number_that_the_text_has_elsewhere() -> None:
    source = "1 Boil H\n2\nO\nserve it"
    assert counts(source, "1. Boil H2O\n2. serve it")[-1] == 0
    assert counts(source, "1. Boil H2\n2. serve it")[-1] == 1


def test_single_letters_do_not_replace_a_lost_word() -> None:
    assert counts("press never", "press a n e v r")[3] == 1


WORDS = st.lists(st.sampled_from(["oak", "elm", "ash", "fir", "yew", "1987"]), max_size=30)


@given(WORDS, WORDS)
def test_dropped_words_are_counted(kept: list[str], dropped: list[str]) -> None:
    source, text = " ".join([*kept, *dropped]), " ".join(kept)
    assert counts(source, text)[3] == len(dropped)
    told = LeftOut(Omission.HIDDEN, " ".join(dropped))
    found = counts(source, text, told)
    assert found[3] == 0
    assert found[0] == found[1] + sum(found[2].values())


def accounted(path: str, content: str | bytes) -> Document:
    raw = content.encode() if isinstance(content, str) else content
    document = read(RawDocument("s", path, path, raw), is_worker=True)
    assert isinstance(document, Document), document
    assert document.reading.words is not None
    assert document.reading.words.source > 0
    return document


MARKDOWN = """\
---
title: Pumps
---
# Pumps <!-- not for readers -->

import Tabs from '@theme/Tabs';

Use &nbsp; the [manual][m] and `List<Item>`.

:::tip[Be quick]
Oil <b class="strong">it</b>.
:::

<table><tr><td>Seal</td><td>D40</td></tr></table>

![a pump](data:image/png;base64,%s)

[m]: https://e.org/manual
""" % ("QUJD" * 40)

NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": ["# Study\\n", "of rain"]},
            {
                "cell_type": "code",
                "source": "print(7)",
                "outputs": [{"output_type": "stream", "text": ["seven\\n"]}],
            },
        ],
        "metadata": {},
        "nbformat": 4,
    }
)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.md", MARKDOWN),
        ("a.mdx", MARKDOWN.replace("<!-- not for readers -->", "")),
        ("a.txt", "Plain words, and 12.5 % more."),
        ("a.html", "<h1>Pumps</h1><p>Oil <b>it</b>, un<i>believ</i>able.<script>var x</script>"),
        ("a.xml", "<a><b>One</b> two <c>three</c></a>"),
        ("a.csv", "name,kg\nplum,17\n"),
        ("a.adoc", "= T\n:x: y\n\nSee link:{x}[it], kbd:[Ctrl].\n\n// aside\n"),
        ("a.tex", "\\section{One} two \\emph{three} % four\n\\label{five}"),
        ("a.ipynb", NOTEBOOK),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHello<00:00:01.500> there {\\an8}\n"),
        ("a.sbv", "0:00:01.000,0:00:02.000\nHello there\n\n0:00:09.000,0:00:10.000\nBye\n"),
        ("a.py", '"""Say what."""\n\nx = 1  # so\n'),
        ("a.json", '{"a": ["one", 2, "caf\\u00e9 \\ud83d\\ude00x"]}'),
        (
            "a.pdf",
            pdf([[Text(10, 700, "Words of a page with an extraor-"), Text(10, 688, "dinary end")]]),
        ),
    ],
)
def test_readers_do_not_lose_words(path: str, content: str | bytes) -> None:
    document = accounted(path, content)
    assert document.reading.unaccounted == ()


def test_left_out_text_has_reasons() -> None:
    reasons = {each.reason for each in accounted("a.md", MARKDOWN).reading.left_out}
    assert reasons >= {Omission.COMMENT, Omission.ATTRIBUTE, Omission.BINARY}


def test_stored_readings_have_counts_without_words() -> None:
    from foundry.documents import without_words

    reading = replace(accounted("a.md", MARKDOWN).reading, unaccounted=("lost",))
    kept = without_words(reading)
    assert (kept.left_out, kept.unaccounted, kept.words) == ((), (), reading.words)


def test_left_out_words_may_be_joined_or_divided() -> None:
    menu = LeftOut(Omission.NAVIGATION, "Home Docs")
    assert counts("HomeDocs One", "one", menu) == (2, 1, {"navigation": 1}, 0)
    menu = LeftOut(Omission.NAVIGATION, "HomeDocs")
    assert counts("Home Docs One", "one", menu) == (3, 1, {"navigation": 2}, 0)


def test_link_targets_do_not_replace_lost_words() -> None:
    page = '<p>See <a href="plum-jam.html">this</a>.</p><p>Cook plum jam.</p>'
    document = read(RawDocument("s", "a.html", "a.html", page.encode()))
    assert isinstance(document, Document)
    said = document.reading.text.replace("Cook plum jam.", "")
    found, lost = account(html_texts(page), [said], (), with_targets=False)
    assert (found.unaccounted, sorted(lost)) == (3, ["cook", "jam", "plum"])
    assert account(html_texts(page), [said], ())[0].unaccounted == 1


def test_left_out_words_may_be_parts_of_words() -> None:
    left_out = [LeftOut(Omission.NAVIGATION, "Plum Plum")]
    found, _ = account(["Plum Plum", "Plums"], ["`Plum`s"], left_out)
    assert found.unaccounted == 0


def test_line_numbers_are_separate_from_words() -> None:
    page = '<pre><span class="lineno"><a>  20</a></span><b>namespace</b> quince</pre>'
    assert html_texts(page)[0].split() == ["20", "namespace", "quince"]


def test_xml_that_is_not_well_formed_is_counted_to_its_end() -> None:
    assert xml_texts(b"<p>One &nbsp; two</p><p>three</p>")[0].split() == ["One", "two", "three"]

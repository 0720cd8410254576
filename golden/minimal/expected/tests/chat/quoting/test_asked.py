"""Requirements of a question, and whether sentences meet them."""

import pytest

from workshop.chat.quoting.asked import (
    find_dated,
    find_lacking,
    read_requirements,
    says_opposite,
)


@pytest.mark.parametrize(
    ("question", "said", "lacking"),
    [
        (
            "Which mountain is the highest?",
            "They are Kibo (5895 m) and Shira.",
            'which is "highest"',
        ),
        ("Which mountain is the highest?", "Kibo is higher than any other.", None),
        ("What is the most common fault?", "Faults are leaks.", 'which is "most common"'),
        ("Must it hold at most 5 l?", "It holds 5 l.", None),
        ("How many mountains are there?", "The mountains are Kibo (5895 m) and Shira.", "how many"),
        ("How many mountains are there?", "There are three high mountains.", None),
        ("How many mountains are there?", "Mountains in the park: 3. [1]", None),
        ("How many mountains are there?", "1. The mountains are high. [2]", "how many"),
        ("Which pumps do not need oil?", "The pumps A and B need oil.", '"not"'),
        ("Which pumps don\u2019t need oil?", "Pump C needs no oil.", None),
        ("Why does it not start?", "If it fails to start, wait.", None),
        ("Which pancakes do not need eggs?", "Whisk egg and milk until no clumps remain.", '"not"'),
        ("Which pancakes do not need eggs?", "They are made without milk or eggs.", None),
        ("Which pancakes do not need eggs?", "Eggs are used here. In these they are not.", None),
        ("Can I come without a card?", "You can come.", None),
        ("What does it need?", "It needs oil.", None),
        ("How many bits has a byte?", "A byte is an 8-bit number.", None),
        ("How many lines does it show?", "The lines default to `n` or 3 if unset.", None),
        ("How many lines does it show?", "The lines are spaced by 3 cm.", "how many"),
        ("How many cores does it use?", "It uses all of the cores.", None),
        ("How many times must it run?", "Since 3.1 it must be told. It runs.", "how many"),
        ("How many bolts does pump A have?", "Pump A needs only oil.", "how many"),
        ("error: no such file", "The file is found.", None),
        ("How many users are allowed?", "The number of users is unlimited.", None),
        ("How long is a token valid?", "Tokens are valid for an hour.", None),
        ("How long is a token valid?", "Tokens are valid indefinitely.", None),
        ("How much does it cost?", "It is paid per seat.", None),
        ("When should I use a tuple?", "Prefer tuples for fixed values.", None),
        ("When was it added?", "Transfers finish in one line when they are added.", "when"),
        ("When was it added?", "It was added in v3.", None),
        ("When was it added?", "Add pumps. (#53)", "when"),
        ("When was it added?", "It was added in 1998.", None),
        ("Since which version does it sort?", "It sorts.", "which version"),
        ("Since which version does it sort?", "It sorts since version 3.", None),
        ("When did it close?", "It closed after the war.", None),
        ("How many times must it run?", "It runs more than `max_runs` times.", None),
        ("Wie viele Pumpen gibt es?", "Es gibt drei Pumpen.", None),
        ("Combien de pompes y a-t-il ?", "Il y a deux pompes.", None),
        ("When did it close?", "You may march past the closed gate.", "when"),
        ("When did it close?", "It closed in May.", None),
        ("When is a valve closed?", "The valve is closed upon a failure.", None),
        ("Who can delete it?", "Only owners can delete it.", None),
        ("Who can delete it?", "Deleting it requires the admin role.", None),
        ("What is the oldest version supported?", "It supports 3.9 and later.", None),
        ("What is the best way to go?", "The recommended way is by train.", None),
        ("Why does it not start?", "The plug is loose.", None),
        ("What can I do if it does not start?", "Check the fuse.", None),
        ("Which valve opens if the pump does not start?", "Valve A opens.", None),
        ("How do I not show warnings?", "Pass `-q` to be quiet.", None),
        ("Which files are not copied?", "Hidden files are skipped.", None),
    ],
)
def test_what_no_sentence_says(question: str, said: str, lacking: str | None) -> None:
    assert find_lacking(read_requirements(question), said) == lacking


@pytest.mark.parametrize(
    ("question", "said", "above", "lacking"),
    [
        ("Is `-S` the same as -s?", "Use -s.", "", '"-S"'),
        ("What does -s do?", "It sorts.", "Option -s", None),
        ("What does HEAD^2 mean?", "HEAD is the tip.", "", '"HEAD^2"'),
        ("Is it built-in, or well - new?", "It is.", "", None),
        ("When was -s added?", "Add -s. (#53)", "", "when"),
        ("When was -s added?", "Add -s. (#53)", "2.1 (2024-05-01)", None),
        ("In which version was it added?", "It was added.", "Version 3", None),
        ("Who can delete it?", "It is deleted.", "Owners", "who"),
    ],
)
def test_headings_may_have_options_and_dates(
    question: str, said: str, above: str, lacking: str | None
) -> None:
    assert find_lacking(read_requirements(question), said, above) == lacking


@pytest.mark.parametrize(
    ("headings", "dated"),
    [
        (["Features", "2.1 (2024-05-01)", "Changelog"], "2.1 (2024-05-01)"),
        (["Pump v2 Release Notes"], "Pump v2 Release Notes"),
        (["News", "2024"], "2024"),
        (["1 May 2024", "Changelog"], "1 May 2024"),
        (["3.1 Installation", "OAuth 2.0 setup", "Chapter 3"], ""),
    ],
)
def test_headings_with_a_date_or_a_version(headings: list[str], dated: str) -> None:
    assert find_dated(headings) == dated


@pytest.mark.parametrize(
    ("question", "said", "is_opposite"),
    [
        ("How do I turn off the pump?", "To turn on the pump, press it.", True),
        ("How do I turn off the pump?", "To turn it off, press it.", False),
        ("How is it turned on and off?", "To turn on the pump, press it.", False),
        ("How do I enable it?", "It is best to disable it.", True),
        ("Where is the left valve?", "The right valve is below.", True),
        ("What is on it in the room?", "It is out of the room.", False),
    ],
)
def test_what_says_the_opposite(question: str, said: str, is_opposite: bool) -> None:
    assert says_opposite(question, said) == is_opposite

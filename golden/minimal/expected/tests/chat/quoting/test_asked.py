"""Requirements of a question, and whether sentences meet them."""

import pytest

from workshop.chat.quoting.asked import find_lacking, find_missing_option, says_opposite


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
        ("When did it close?", "It closed after the war.", None),
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
    assert find_lacking(question, said) == lacking


def test_options_are_missed_as_they_are_written() -> None:
    assert find_missing_option("Is `-S` the same as -s?", "Use -s.") == '"-S"'
    assert find_missing_option("Is it built-in, or well - new?", "It is.") is None


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

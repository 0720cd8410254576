"""Strings that look like keys are found, and ordinary words are not."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.documents.secrets import MAX_FINDINGS, find_secrets

LETTERS = string.ascii_letters + string.digits


def made(length: int, alphabet: str = LETTERS) -> str:
    """Return a fake key; it is assembled here so that secret scanners do not report this file."""
    return "".join(random.Random(length).choices(alphabet, k=length))


KEYS = {
    "AWS access key": "AKIA" + made(16, "ABCDEFGHJKMNPQRSTUVWXYZ234567"),
    "GitHub token": "ghp_" + made(36),
    "GitLab token": "glpat-" + made(20),
    "Slack token": "xoxb-" + made(24),
    "Slack webhook": "https://hooks.slack.com/services/T"
    + made(8)
    + "/B"
    + made(9)
    + "/"
    + made(24),
    "Google API key": "AIza" + made(35),
    "Anthropic key": "sk-ant-" + made(40),
    "OpenAI key": "sk-" + made(20) + "T3BlbkFJ" + made(21),
    "Stripe key": "sk_live_" + made(24),
    "npm token": "npm_" + made(36),
    "SendGrid key": "SG." + made(22) + "." + made(43),
    "JSON Web Token": "eyJ" + made(20) + ".eyJ" + made(30) + "." + made(43),
    "private key": "-----BEGIN " + "RSA PRIVATE KEY-----\n" + made(64) + "\n",
    "random value": "password = '" + made(24, LETTERS) + "'",
}


@pytest.mark.parametrize("kind", KEYS)
def test_findings_have_kind_and_line(kind: str) -> None:
    (found,) = find_secrets(f"# Setting up\n\nThen put\n\n    {KEYS[kind]}\n\ninto it.\n")
    assert (found.kind, found.line, found.count) == (kind, 5, 1)


@pytest.mark.parametrize(
    ("value", "is_secret"),
    [
        ("qwertzuiopasdfghjk83", True),
        ("qwertzuiopasdfghjkl8", False),
        ("908172635490817263ab", True),
        ("9081726354908172635a", False),
        ("qwertzuiopasdfghj83", False),
        ("qwe83qwe83qwe83qwe83", False),
    ],
)
def test_random_values_need_letters_digits_and_length(value: str, is_secret: bool) -> None:
    found = find_secrets(f"password = '{value}'")
    assert [finding.kind for finding in found] == ["random value"] * is_secret


def test_every_secret_is_found() -> None:
    found = find_secrets("".join(f"{KEYS[kind]}\n\n" for kind in KEYS))
    assert [finding.kind for finding in found] == list(KEYS)
    text = f"{KEYS['GitLab token']} {KEYS['npm token']}\n{KEYS['GitLab token']}\n"
    assert [(finding.kind, finding.line) for finding in find_secrets(text)] == [
        ("GitLab token", 1),
        ("npm token", 1),
        ("GitLab token", 2),
    ]


def test_at_most_a_hundred_secrets_are_listed() -> None:
    found = find_secrets(f"{KEYS['npm token']}\n" * (MAX_FINDINGS + 1))
    assert [finding.line for finding in found] == list(range(1, 101))


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "api_key = your-api-key-goes-here-1234567890",
        "secret: correct-horse-battery-staple-words",
        "token = os.environ.get_the_token_by_name(1, 2, 3)",
        "the key: https://example.org/some/path/to/a/page123456.html",
        "password: xxxxxxxxxxxxxxxxxxxxxxxx",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "a monkey = " + "abc" * 10,
    ],
)
def test_placeholders_and_prose_are_not_secrets(text: str) -> None:
    assert find_secrets(text) == ()


@given(st.text(), st.sampled_from(sorted(KEYS)), st.text(st.characters(exclude_characters="\n")))
def test_findings_do_not_contain_the_value(before: str, kind: str, after: str) -> None:
    found = find_secrets(f"{before}\n{KEYS[kind]}\n{after}")
    assert kind in {finding.kind for finding in found}
    value = max(KEYS[kind].split(), key=len)
    assert value not in repr(found)
    place = before.count("\n") + 2
    assert place in {finding.line for finding in found if finding.kind == kind}

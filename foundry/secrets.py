"""Find secrets in a text: keys of known services, and random values given to names.

The formats are those that the services publish for secret scanning (GitHub, supported secret
scanning patterns; gitleaks, config/gitleaks.toml). Found values are never kept, only their lines.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foundry.records import Finding

MAX_FINDINGS = 100
"""Of one document; more would tell its owner nothing new."""

MIN_ENTROPY = 3.5
"""Bits a character, Shannon's; words and paths have less."""


@dataclass(frozen=True, slots=True)
class _Format:
    """A kind of key; texts without `marker` are not searched."""

    kind: str
    marker: str
    pattern: re.Pattern[str]


def _format(kind: str, marker: str, pattern: str) -> _Format:
    return _Format(kind, marker, re.compile(pattern))


_FORMATS = (
    _format(
        "private key",
        "PRIVATE KEY",
        r"-----BEGIN (?:[A-Z]{1,9} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\\n|\s){0,4}"
        r"(?:[\w-]{1,20}: [^\n]{0,100}\s{1,3}){0,4}[A-Za-z0-9+/]{32}",
    ),
    _format("AWS access key", "AKIA", r"\bAKIA[A-Z2-7]{16}\b"),
    _format("AWS access key", "ASIA", r"\bASIA[A-Z2-7]{16}\b"),
    *(
        _format("GitHub token", prefix, rf"\b{prefix}[A-Za-z0-9]{{36,251}}\b")
        for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")
    ),
    _format("GitHub token", "github_pat_", r"\bgithub_pat_\w{82}\b"),
    _format("GitLab token", "glpat-", r"\bglpat-[\w-]{20,}"),
    _format("Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,250}"),
    _format("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}"),
    _format("Google API key", "AIza", r"\bAIza[\w-]{35}(?![\w-])"),
    _format("Anthropic key", "sk-ant-", r"\bsk-ant-[\w-]{32,}"),
    _format("OpenAI key", "T3BlbkFJ", r"\bsk-[\w-]{20,}T3BlbkFJ[\w-]{20,}"),
    _format("Stripe key", "k_live_", r"\b[rs]k_live_[A-Za-z0-9]{16,250}\b"),
    _format("Hugging Face token", "hf_", r"\bhf_[A-Za-z]{34}\b"),
    _format("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    _format("PyPI token", "pypi-AgEIcHlwaS5vcmc", r"\bpypi-AgEIcHlwaS5vcmc[\w-]{50,}"),
    _format("SendGrid key", "SG.", r"\bSG\.[\w-]{22}\.[\w-]{43}\b"),
    _format("JSON Web Token", "eyJ", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}"),
)
_ASSIGNED = re.compile(r"[:=]>?\s{0,3}[\"']?([A-Za-z0-9+/_-]{20,200}={0,2})(?![\w.(\[])")
_NAME = re.compile(r"(?i)(?:key|secret|token|passwd|password|credentials?)[\"']?\s{0,3}:?$")
_PLACEHOLDER = re.compile(
    r"(?i)example|sample|dummy|your|xxxx|changeme|placeholder|redacted|1234567"
)


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Return every place that looks like a secret, in the order of the text; placeholders do
    not."""
    found = {
        match.start(): form.kind
        for form in _FORMATS
        if form.marker in text
        for match in form.pattern.finditer(text)
        if not _PLACEHOLDER.search(match.group())
    }
    for match in _ASSIGNED.finditer(text):
        name = text[max(0, match.start() - 20) : match.start()]
        if _NAME.search(name) and _looks_random(match.group(1)):
            found.setdefault(match.start(1), "random value")
    return tuple(_locate(text, sorted(found.items())[:MAX_FINDINGS]))


def _looks_random(value: str) -> bool:
    digits = sum(character.isdigit() for character in value)
    if not 2 <= digits <= len(value) - 2 or _PLACEHOLDER.search(value):
        return False
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares) >= MIN_ENTROPY


def _locate(text: str, found: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    line, position = 1, 0
    for start, kind in found:
        line += text.count("\n", position, start)
        position = start
        yield Finding(kind, line)

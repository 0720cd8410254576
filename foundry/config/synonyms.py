"""Reads a file of synonyms, with one group of forms per line, and collects its problems.

FK, forward kinematics          each is a synonym of the other
k8s => kubernetes               a search for the left side also searches for the right side
# a comment
"""

from collections.abc import Iterator
from pathlib import Path

from foundry.config.named_files import SYNONYMS_BYTES, NamedFileError, read_named_text
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.stages.synonyms import MAX_FORM_TERMS, form_key
from foundry.terminal import count_of

MAX_GROUPS = 20_000
MAX_FORMS = 16
"""Maximum number of forms per group."""

MAX_FORM_CHARACTERS = 200
MAX_PROBLEMS = 20
ARROW = "=>"

Group = tuple[tuple[str, ...], tuple[str, ...]]
"""Forms and their synonyms; in a two-way group, every form maps to all others."""


def read_synonyms(
    path: Path, language: str, *, inside: Path | None = None
) -> tuple[tuple[Group, ...], list[str]]:
    """Return the groups in a file, and its problems, each with its line.

    Beyond MAX_PROBLEMS, problems are only counted.
    """
    try:
        key = "search.synonyms.file"
        lines = read_named_text(path, SYNONYMS_BYTES, key=key, inside=inside).splitlines()
    except NamedFileError as error:
        return (), [error.message]
    tokenizer = Tokenizer(language)
    groups: list[Group] = []
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        group = _read_group(text)
        found = list(_find_problems(text, group, tokenizer))
        problems += [f"{path}:{number}: {problem}" for problem in found]
        groups.append(group)
        if len(groups) > MAX_GROUPS:
            problems.append(f"{path}:{number}: more than {MAX_GROUPS:,} groups; remove some")
            break
    if len(problems) > MAX_PROBLEMS:
        more = count_of(len(problems) - MAX_PROBLEMS, "other problem")
        problems = [*problems[:MAX_PROBLEMS], f"{path}: and {more}"]
    return tuple(groups), problems


def _read_group(text: str) -> Group:
    left, _, right = text.partition(ARROW)
    sides = [tuple(" ".join(form.split()) for form in side.split(",")) for side in (left, right)]
    return sides[0], (sides[1] if ARROW in text else sides[0])


def _find_problems(text: str, group: Group, tokenizer: Tokenizer) -> Iterator[str]:
    if text.count(ARROW) > 1:
        yield f"has {ARROW} more than once; use one, and write the synonyms on its right"
        return
    forms = [*group[0], *group[1]] if ARROW in text else list(group[0])
    if "" in forms:
        yield "has an empty form; remove a comma, or add the missing form"
        return
    if any(len(form) > MAX_FORM_CHARACTERS for form in forms):
        yield f"has a form of more than {MAX_FORM_CHARACTERS} characters; shorten it"
        return
    if len(forms) == 1:
        yield f"{forms[0]!r} has no synonyms; add them, with commas between them"
    if len(forms) > MAX_FORMS:
        yield f"has {len(forms)} forms, but only {MAX_FORMS} are allowed; split it"
    keys: dict[str, str] = {}
    for form in forms:
        key = form_key(tokenizer.tokenize(form))
        count = len(key.split())
        if not key:
            yield f"{form!r} has no searchable word; use one that is not a stop word"
        elif count > MAX_FORM_TERMS:
            yield f"{form!r} has {count} words, but only {MAX_FORM_TERMS} are allowed; shorten it"
        elif other := keys.get(key):
            yield f"{form!r} and {other!r} are the same to a search; remove one"
        keys.setdefault(key, form)

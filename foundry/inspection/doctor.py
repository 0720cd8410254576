"""Examines the installation: a report to read, and to paste when asking for help.

The report contains no values of environment variables, no user name and no host name.
"""

import os
import platform
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

import foundry
from foundry.config.extras import EXTRAS, of_build, of_server
from foundry.config.project import Config, load_config
from foundry.errors import DISTRIBUTION, FoundryError, install_command
from foundry.features.providers import PROVIDERS
from foundry.files import CONFIG_NAME, MODEL_FOLDER, templates_folder
from foundry.indexing.versions import built_index, index_folder, open_index
from foundry.runtime.errors import ServerError
from foundry.runtime.retrieval.encoder import PieceEncoder
from foundry.terminal import count_of

LITTLE_SPACE_BYTES = 1_000_000_000
"""Free bytes below which a build may fill the disk."""

VARIABLES = (
    "EMBEDDING_BASE_URL EMBEDDING_MODEL HF_HOME HF_HUB_OFFLINE FASTEMBED_CACHE_PATH HTTP_PROXY"
    " HTTPS_PROXY NO_PROXY SSL_CERT_FILE SOURCE_DATE_EPOCH".split()
)
"""Environment variables that the report shows as set or unset.

It also shows the variable with the key of the project's embedding service.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """A result of a check; `is_problem` is whether something will not work.

    Findings that are not problems may have a `group`. The findings of a group are shown on one
    line, each by its `brief`.
    """

    subject: str
    said: str
    is_problem: bool = False
    hint: str | None = None
    group: str = ""
    brief: str = ""


def summarise(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, with each group joined into one; problems stay separate."""
    told: dict[str, list[str]] = {}
    for each in findings:
        if each.group and not each.is_problem:
            told.setdefault(each.group, []).append(each.brief)
    summary = []
    for each in findings:
        if each.is_problem or not each.group:
            summary.append(each)
        elif each.group in told:
            summary.append(Finding(each.group, ", ".join(told.pop(each.group))))
    return summary


def examine(project: Path) -> list[Finding]:
    """Examine the installation, and the project if there is one."""
    used: Collection[str] = ()
    keys: list[str] = []
    own = [Finding("project", f"none: {project} has no {CONFIG_NAME}")]
    if (project / CONFIG_NAME).exists():
        try:
            config = load_config(project)
        except FoundryError as error:
            own = [Finding("project", error.message, is_problem=True, hint=error.hint)]
        else:
            own, used = [*_project(config)], _used_extras(config)
            keys = [config.embedding.api_key_env] if config.embedding.api_key_env else []
    machine = [*_installation(), *_encoder()]
    return [*machine, *own, *_extras(used), *_environment(keys), _space(project)]


def _installation() -> Iterator[Finding]:
    yield Finding("foundry", foundry.__version__)
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    bits = 64 if sys.maxsize > 2**32 else 32
    hint = None if bits == 64 else "install a 64-bit Python"
    yield Finding("python", f"{python}, {bits} bits", is_problem=bits < 64, hint=hint)
    yield Finding("system", f"{platform.system()} {platform.release()} on {platform.machine()}")
    yield Finding("processors", str(os.cpu_count() or "unknown"))
    for requirement in _needed(_declared(), ""):
        found = _check_requirement(requirement)
        yield replace(found, group="packages", brief=f"{found.subject} {found.said}")
    lock = templates_folder() / "uv.lock"
    missing = not lock.is_file()
    yield Finding(
        "templates",
        "incomplete: uv.lock is missing" if missing else "complete",
        is_problem=missing,
        hint="install Foundry again" if missing else None,
    )


def _used_extras(config: Config) -> set[str]:
    """Return the extras that this project needs for building or querying."""
    kind = PROVIDERS[config.embedding.provider].kind
    return {*of_build(config, "local"), *of_server(config, kind)} & EXTRAS.keys()


def _extras(used: Collection[str]) -> Iterator[Finding]:
    known = metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or []
    declared = _declared()
    for extra in sorted(known, key=lambda extra: extra not in used):
        absent = [
            requirement
            for requirement in _needed(declared, extra)
            if _check_requirement(requirement).is_problem
        ]
        names = ", ".join(requirement.name for requirement in absent)
        is_used = extra in used
        yield Finding(
            f"extra {extra}",
            f"not installed (missing: {names})" if absent else "installed",
            is_problem=is_used and bool(absent),
            hint=install_command(extra) if absent else None,
            group="" if is_used else f"extras {'not ' if absent else ''}installed",
            brief=extra,
        )


def _declared() -> list[Requirement]:
    return [Requirement(text) for text in metadata.requires(DISTRIBUTION) or ()]


def _needed(declared: Iterable[Requirement], extra: str) -> list[Requirement]:
    """Return the requirements that an extra adds; for "", those of Foundry itself."""
    return [
        requirement
        for requirement in declared
        if requirement.name != DISTRIBUTION
        and (
            requirement.marker.evaluate({"extra": extra})
            and not (extra and requirement.marker.evaluate({"extra": ""}))
            if requirement.marker
            else not extra
        )
    ]


def _check_requirement(requirement: Requirement) -> Finding:
    hint = f"pip install '{requirement.name}{requirement.specifier}'"
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return Finding(requirement.name, "not installed", is_problem=True, hint=hint)
    if not requirement.specifier.contains(version, prereleases=True):
        said = f"{version}, but Foundry needs {requirement.specifier}"
        return Finding(requirement.name, said, is_problem=True, hint=hint)
    return Finding(requirement.name, version)


def _encoder() -> Iterator[Finding]:
    """Yield the check of the built-in encoder: its files load, and it embeds a word."""
    hint = f"install Foundry again: pip install --force-reinstall {DISTRIBUTION}"
    try:
        vector = PieceEncoder.open(MODEL_FOLDER).encode("seal")
    except (ServerError, OSError, ValueError) as error:
        yield Finding("built-in encoder", f"unusable: {error}", is_problem=True, hint=hint)
        return
    if vector is None:
        yield Finding("built-in encoder", "embeds nothing", is_problem=True, hint=hint)
    else:
        yield Finding("built-in encoder", "works")


def _project(config: Config) -> Iterator[Finding]:
    sources = count_of(len(config.sources), "source")
    yield Finding("project", f"{config.project.name}: {sources}")
    yield Finding("embedding", config.embedding.provider)
    build = config.build_command
    try:
        if not (index_folder(config) / "CURRENT").exists():
            yield Finding("index", "not built yet", hint=build)
            return
        version = built_index(config).folder
        opened = open_index(version)
        manifest, findings = opened.manifest, opened.verify()
    except (FoundryError, ServerError, OSError) as error:
        yield Finding("index", str(error), is_problem=True, hint=build)
        return
    documents = count_of(manifest.documents, "document")
    chunks = count_of(manifest.chunks, "chunk")
    yield Finding(
        "index",
        "; ".join(findings) or f"{version.name}: {documents}, {chunks}, intact",
        is_problem=bool(findings),
        hint=build if findings else None,
    )


def _environment(keys: Sequence[str]) -> Iterator[Finding]:
    for name in (*VARIABLES, *keys):
        said = "set" if os.environ.get(name) else "unset"
        group = "" if name in keys else f"variables {said}"
        yield Finding(f"${name}", said, group=group, brief=name)


def _space(project: Path) -> Finding:
    place = project.resolve()
    free = shutil.disk_usage(next(path for path in (place, *place.parents) if path.exists())).free
    return Finding(
        "disk space",
        f"{free / 1e9:,.1f} GB free",
        is_problem=free < LITTLE_SPACE_BYTES,
        hint="free some space before building" if free < LITTLE_SPACE_BYTES else None,
    )

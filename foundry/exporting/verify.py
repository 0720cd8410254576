"""Verifies an export: its hashes, what its files say, and its server in a clean interpreter."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from foundry.errors import FoundryError, VerificationError
from foundry.exporting.checksums import compare, is_owners, list_files
from foundry.exporting.standing import examine
from foundry.runtime.verification.files import find_broken_files
from foundry.runtime.verification.running import clean_interpreter

TIME_LIMIT = 120.0
"""Seconds that a server may take to verify itself or to answer."""

VARIABLES = frozenset(
    {
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "SEMANTIC_WEIGHT",
        "KEYWORD_WEIGHT",
        "REFERENCE_DATE",
        "EMBEDDING_BASE_URL",
        "EMBEDDING_MODEL",
        "HF_HOME",
        "FASTEMBED_CACHE_PATH",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "SSL_CERT_FILE",
        "DATABASE_URL",
        "QDRANT_URL",
        "QDRANT_API_KEY",
    }
)
"""What a server gets of the caller's environment, beside the key of its embedding service."""

_HINT = (
    "restore the named files from a trusted copy, or export again; foundry update takes note of"
    " what you edited or added yourself"
)

_UNSETTLED = "settle what is named, then run foundry update, which takes note of it"

_START = "import runpy, sys; sys.path.insert(0, {folder!r}); runpy.run_module({package!r}, run_name='__main__', alter_sys=True)"  # noqa: E501


def verify_export(folder: Path) -> dict[str, object]:
    """Check an exported folder; returns what was checked. Raises VerificationError.

    What the owner edited, added or deleted before an update is listed by its name and is no
    finding: the update took note of it. Files that a merge has left to be settled, and imports that
    lead nowhere, are findings. Only what has none of them is run: its modules, its server and the
    known questions, unless libraries are missing here that it needs, which are listed.
    """
    if not folder.is_dir():
        raise FoundryError(f"{folder}: no such folder", hint="name the folder of an export")
    differences = compare(folder)
    unknown = [name for name in differences.unknown if not is_owners(name)]
    if findings := replace(differences, unknown=unknown).findings():
        raise VerificationError(str(folder), findings, hint=_HINT)
    standing = examine(folder)
    package = find_package(folder)
    files = {
        name: (folder / name).read_bytes()
        for name in list_files(folder)
        if not is_owners(name) and name not in standing.index and not (folder / name).is_symlink()
    }
    if findings := find_broken_files(files, package):
        raise VerificationError(str(folder), findings, hint=_UNSETTLED)
    answer = run_server(folder, package, ["verify", "--json"])
    try:
        report = json.loads(answer.stdout)
        findings = list(report["findings"])
    except (ValueError, KeyError, TypeError):
        said = answer.stderr.strip() or answer.stdout.strip() or "no output"
        raise VerificationError(str(folder), [f"{package} verify: {said}"]) from None
    if findings:
        raise VerificationError(str(folder), findings)
    return {
        "export": str(folder),
        **report,
        "edited": standing.edited,
        "added": [name for name in standing.added if not is_owners(name)],
        "deleted": standing.deleted,
    }


def find_package(folder: Path) -> str:
    """The name of the one server package in an exported folder."""
    names = [path.parent.name for path in folder.glob("*/settings.json")]
    if len(names) != 1:
        raise VerificationError(str(folder), ["holds no server package"])
    return names[0]


def run_server(
    folder: Path,
    package: str,
    arguments: Sequence[str],
    *,
    index_dir: Path | None = None,
    variables: Mapping[str, str] | None = None,
    time_limit: float | None = TIME_LIMIT,
) -> "subprocess.CompletedProcess[str]":
    """Run a server's own command line from `folder` in an interpreter that sees nothing else.

    `variables` of the environment go before the caller's own. Raises FoundryError when it does not
    end within `time_limit` seconds.
    """
    start = _START.format(folder=str(folder), package=package)
    wanted = {*VARIABLES, _key_variable(folder / package / "settings.json")}
    environment = {name: value for name, value in os.environ.items() if name in wanted}
    if index_dir is not None:
        environment["INDEX_DIR"] = str(index_dir)
    environment.update(variables or {})
    try:
        return subprocess.run(
            [*clean_interpreter(isolated=True), "-c", start, *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=time_limit,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FoundryError(
            f"{folder}: the server did not answer within {time_limit:.0f} seconds"
        ) from None


def model_variables() -> dict[str, str]:
    """The LLM_* variables of this process: for servers that may ask the language model."""
    return {name: value for name, value in os.environ.items() if name.startswith("LLM_")}


def _key_variable(settings: Path) -> str:
    """The variable that holds the key of a server's embedding service; "" if it has none."""
    try:
        return str(json.loads(settings.read_bytes())["embedding"]["api_key_env"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""

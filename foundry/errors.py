"""Errors with a message for the user.

The command line prints message and hint, and exits with the error's `exit_code`.
"""

from collections.abc import Sequence

from foundry.terminal import count_of, printable

DISTRIBUTION = "rag-foundry"
"""The name of the Foundry package."""


def install_command(*extras: str) -> str:
    """Return the shell command that installs extras of Foundry."""
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'"


class FoundryError(Exception):
    """A failure that the user can understand and fix.

    `message` names the input and the place, `hint` the remedy.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(FoundryError):
    """Every problem found in foundry.toml; `problems` has one text for each."""

    exit_code = 2

    def __init__(self, file: str, problems: Sequence[str], *, hint: str | None = None) -> None:
        heading = f"{file}: {count_of(len(problems), 'problem')}"
        super().__init__("\n".join([heading, *(f"  {problem}" for problem in problems)]), hint=hint)
        self.problems = tuple(problems)


class RequestError(FoundryError):
    """Options contradict each other, or name something unknown, such as a metric or filter."""

    exit_code = 2


class MissingExtraError(FoundryError):
    """A chosen feature needs a package that is not installed; nothing was started."""


class SourceError(FoundryError):
    """A whole source cannot be read, or too little of it."""


class BuildError(FoundryError):
    """The build cannot make an index; the previous one is kept."""


class EmptyBuildError(BuildError):
    """No source has a document that can be indexed."""


class StrictBuildError(BuildError):
    """A strict build left inputs out, or found possible secrets."""

    def __init__(self, problems: Sequence[str], listed: str) -> None:
        super().__init__(
            f"nothing was published: {count_of(len(problems), 'problem')}\n{listed}",
            hint="fix or exclude the listed files, or build without --strict",
        )
        self.problems = tuple(problems)


class LostWordsError(BuildError):
    """More of the sources' words are unaccounted for than [build] max_unaccounted allows."""

    def __init__(self, share: float, most: float, listed: Sequence[str]) -> None:
        super().__init__(
            "\n".join(
                [
                    f"nothing was published: {share:.2%} of the sources' words are neither read nor"
                    f" left out for a reason; [build] max_unaccounted allows {most:.2%}",
                    *listed,
                ]
            ),
            hint="exclude the listed documents, or raise max_unaccounted",
        )


class BusyError(BuildError):
    """Another process holds the project's lock, or publishes into the same place of an engine."""


class IndexUnusableError(FoundryError):
    """An index is missing, damaged or written by another version."""


class ForeignStateError(IndexUnusableError):
    """A project's `.foundry` folder was written by another installation."""


class StaleIndexError(IndexUnusableError):
    """An index must not be exported, since the configuration has changed since it was built."""


class RenderError(FoundryError):
    """A template could not be rendered, formatted or parsed back; nothing was written."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        usual = "correct the project's own templates; if it has none, this is an error in Foundry"
        super().__init__(message, hint=hint or usual)


class PublishError(FoundryError):
    """An engine refused an index, or its results differ; says which version is published."""


class ExportError(FoundryError):
    """The target of an export cannot be written; the previous one is kept."""


class TrustError(FoundryError):
    """The project has templates of its own, which are code, and `--trust` was not given."""

    exit_code = 4


class VerificationError(FoundryError):
    """Files do not match their hashes, or a server does not work as it must."""

    def __init__(
        self,
        subject: str,
        findings: Sequence[str],
        *,
        hint: str = "export again, or restore the named files from a trusted copy",
    ) -> None:
        heading = f"{subject}: {count_of(len(findings), 'finding')}"
        # Names in a finding may contain line breaks.
        findings = [printable(finding) for finding in findings]
        super().__init__("\n".join([heading, *(f"  {finding}" for finding in findings)]), hint=hint)
        self.findings = tuple(findings)

"""The [export] section of foundry.toml."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from foundry.config.named_files import why_no_folder
from foundry.features.feature import PACKAGE_PATTERN, Table
from foundry.features.targets import TARGETS

if TYPE_CHECKING:
    Target = str
else:
    Target = Literal[tuple(TARGETS)]


class ExportSection(Table):
    """[export]: options of `foundry export`.

    Attributes:
        package: The name to import; by default `name` with underscores.
        targets: The platforms on which the export will run; each adds its files. Empty by default
            if `server.callers` is false.
        templates: A folder of templates that replace Foundry's by name; needs `--trust`.
    """

    package: str | None = Field(default=None, pattern=PACKAGE_PATTERN, max_length=63)
    targets: Annotated[tuple[Target, ...], Field(strict=False)] = ("docker",)
    templates: str | None = Field(default=None, min_length=1)

    def find_problems(self, name: str, project: Path, *, has_tokens: bool) -> list[str]:
        """Return problems, with key paths; `name` is the server's."""
        problems = [
            f"export.targets: {target!r} lets other machines reach the server, which needs"
            " server.callers = true; set that, or remove the target"
            for target in self.targets
            if TARGETS[target].is_open and "targets" in self.model_fields_set and not has_tokens
        ]
        for target in self.targets:
            longest = TARGETS[target].longest_name
            if longest and len(name) > longest:
                problems.append(
                    f"project.name: the target {target!r} allows {longest} characters at most; drop"
                    f" {len(name) - longest}, or remove it from export.targets"
                )
        if self.templates and (reason := why_no_folder(project / self.templates)):
            problems.append(f"export.templates: {reason}")
        return problems

    def resolve(self, *, has_tokens: bool) -> Self:
        """Return the section with the targets that are written.

        "docker" is added if a target needs it. Without tokens, there are no default targets.
        """
        if not has_tokens and "targets" not in self.model_fields_set:
            return self.model_copy(update={"targets": ()})
        image = ["docker"] if any(TARGETS[target].runs_image for target in self.targets) else []
        return self.model_copy(update={"targets": tuple(dict.fromkeys([*image, *self.targets]))})

"""The steps of the chosen stages, as the templates of modules and of the README take them."""

from collections.abc import Iterable

from foundry.features.snippet import Place, Snippet
from foundry.features.stage import Stage


def place_steps(stages: Iterable[Stage]) -> dict[str, object]:
    """Return values for templates.

    `steps` are lines of Python by place, in the order of the stages; `imports` what they need, by
    module that they go into: (module below the package, names); `said` are the entries of the
    README's list, in the order in which a search comes by.
    """
    stages = list(stages)
    steps: dict[str, list[Snippet]] = {}
    imports: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    said = []
    for place in Place:
        module, word = place.value
        here = [(stage, step) for stage in stages for step in stage.steps() if step.place is place]
        steps[word] = [stage.fill(step.code, **step.values) for stage, step in here]
        imports.setdefault(module, []).extend(
            needed for _, step in here for needed in step.imports.items()
        )
        said += [stage.fill(step.said, **step.values) for stage, step in here if step.said]
    return {"steps": steps, "imports": imports, "said": said}

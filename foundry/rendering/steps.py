"""The steps of the chosen features, as the templates of modules and of the README take them."""

from collections.abc import Sequence

from foundry.features.feature import Feature
from foundry.features.snippet import Place, Snippet, Step


def place_steps(steps_of: Sequence[tuple[Feature, Step]]) -> dict[str, object]:
    """Return values for templates, from steps with the features that have them.

    `steps` are lines of Python by place, in the order given; `imports` what they need, by module
    that they go into: (module below the package, names); `explained` are the entries of the
    README's list, in the order of a search.
    """
    steps: dict[str, list[Snippet]] = {}
    imports: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    explained = []
    for place in Place:
        module, word = place.value
        here = [(each, step) for each, step in steps_of if step.place is place]
        steps[word] = [each.fill(step.code, **step.values) for each, step in here]
        imports.setdefault(module, []).extend(
            needed for _, step in here for needed in step.imports.items()
        )
        explained += [each.fill(step.readme, **step.values) for each, step in here if step.readme]
    return {"steps": steps, "imports": imports, "explained": explained}

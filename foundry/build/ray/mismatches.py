"""Nodes whose installation is another than that of the build, whose bytes would differ from its."""

from typing import TypeVar

from foundry.build.preparing.programs import installation
from foundry.build.ray.cluster import SAME_EVERYWHERE
from foundry.build.ray.tasks import Mismatch
from foundry.errors import BuildError

Answer = TypeVar("Answer")


def check_installation(answer: Answer | Mismatch, start: str) -> Answer:
    """Return what a node has answered. Raises BuildError where it could not, and says what differs.

    `start` is the module that decides; see `installation`.
    """
    if not isinstance(answer, dict):
        return answer
    own = installation(start)
    differing = [
        f"{name} {answer.get(name, 'missing')} (here {own.get(name, 'missing')})"
        for name in dict.fromkeys((*own, *answer))
        if own.get(name) != answer.get(name)
    ]
    what = ", ".join(differing) or "other code under the same version of Foundry"
    raise BuildError(
        f"a node of the cluster would prepare documents otherwise: it has {what}",
        hint=SAME_EVERYWHERE,
    )

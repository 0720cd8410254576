"""Every optional stage of a search, in the order of their tables in the documentation."""

from foundry.features import asking, choosing, ranking
from foundry.features.stage import Stage

STAGES: dict[str, type[Stage]] = {
    stage.name: stage for stage in (*ranking.STAGES, *asking.STAGES, *choosing.STAGES)
}
"""By the name of the table. At a place, steps of several follow each other in this order."""

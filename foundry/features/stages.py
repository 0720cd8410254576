"""Every optional stage of a search, in the order of their tables in the documentation."""

from foundry.features import asking, choosing, ranking, reading
from foundry.features.stage import Stage

STAGES: dict[str, type[Stage]] = {
    stage.name: stage
    for stages in (reading.STAGES, ranking.STAGES, asking.STAGES, choosing.STAGES)
    for stage in stages
}
"""By the name of the table. At a place, steps of several follow each other in this order."""

"""Every optional stage of a search, in the order of their tables in the documentation."""

from foundry.features.stage import Stage
from foundry.features.stages import models, ranking, reading, results, weighting

STAGES: dict[str, type[Stage]] = {
    stage.name: stage
    for stages in (reading.STAGES, weighting.STAGES, ranking.STAGES, models.STAGES, results.STAGES)
    for stage in stages
}
"""By the name of the table. At a place, steps of several follow each other in this order."""

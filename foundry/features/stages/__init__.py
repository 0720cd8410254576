"""All optional stages of a search, in the order of the documentation."""

from foundry.features.stage import Stage
from foundry.features.stages import models, ranking, reading, results, weighting

STAGES: dict[str, type[Stage]] = {
    stage.name: stage
    for stages in (reading.STAGES, weighting.STAGES, ranking.STAGES, models.STAGES, results.STAGES)
    for stage in stages
}
"""Stages by table name. Stages at the same place run in this order."""

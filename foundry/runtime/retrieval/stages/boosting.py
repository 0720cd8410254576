"""Multiplies the scores of candidates by the factors of a stage."""

from dataclasses import replace

from ..candidates import Candidates, Scores


def boost(candidates: Candidates, stage: str, factors: Scores, largest: float = 1.0) -> Candidates:
    """Multiply each score by its factor (m,), scaled by the `largest` one that there can be."""
    scaled = candidates.with_scores(candidates.scores * (factors / largest))
    return replace(scaled, boosts={**candidates.boosts, stage: factors})

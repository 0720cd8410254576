"""Ranking: tokens, filters, the two lanes, the encoder, fusion and results."""

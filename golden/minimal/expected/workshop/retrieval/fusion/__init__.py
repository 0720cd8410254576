"""Ways to make one score of two lanes."""

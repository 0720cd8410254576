"""Questions whose answers are known, asked and compared with what was measured."""

"""Coefficients of the ways in which passages do not support a sentence; a sum of 1 marks it.

Written by `python benchmarks/train_sentences.py --write`.
"""

COEFFICIENTS = {
    "number": 1.32,
    "changed_number": 1.81,
    "name": 1.23,
    "opposite": 1.23,
    "denial": 1.16,
    "denied_clause": 0.82,
    "changed_word": 0.49,
    "exchange": 0.87,
    "unfounded": 2.22,
}

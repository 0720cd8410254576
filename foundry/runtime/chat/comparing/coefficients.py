"""Coefficients of the measures in `evidence`; a sentence is marked if their weighted sum reaches 1.

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

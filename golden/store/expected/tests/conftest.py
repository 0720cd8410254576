"""The tests search, and so does the engine: they need the one that holds this index."""

import os

import pytest

VARIABLE = "DATABASE_URL"

if not os.environ.get(VARIABLE):
    pytest.exit(f"{VARIABLE} is not set: the tests need the engine that holds the index", 1)

"""Fixtures of all tests of readers."""

from collections.abc import Iterator

import pytest

from foundry.readers.sandbox.processes import Sandbox


@pytest.fixture(scope="module")
def sandbox(forked_readers: None) -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared

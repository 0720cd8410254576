"""Shared fixtures: a clean environment, and the application in process."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from harbour import app
from harbour.settings import settings

ADDRESS = "http://127.0.0.1:8000"
VARIABLE = "DATABASE_URL"

# The tests search, so they need the engine that stores this index.
if not os.environ.get(VARIABLE):
    pytest.exit(f"{VARIABLE} is not set: the tests need the engine that holds the index", 1)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the environment, so that only settings.json configures the server."""
    settings.cache_clear()
    for variable in (
        "ALLOWED_HOSTS",
        "API_TOKENS",
        "PUBLIC_URL",
        "SEMANTIC_WEIGHT",
        "KEYWORD_WEIGHT",
    ):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def callers_headers() -> dict[str, str]:
    """Headers that all callers send: add what your `authorise` in custom.py requires."""
    return {}


@pytest.fixture
def new_client(callers_headers: dict[str, str]) -> Callable[[], TestClient]:
    """Create a client of the application with the current configuration."""
    return lambda: TestClient(app.create_app(), base_url=ADDRESS, headers=callers_headers)


@pytest.fixture
def client(new_client: Callable[[], TestClient]) -> Iterator[TestClient]:
    """A client of the application."""
    with new_client() as client:
        yield client


@pytest.fixture
def limited(
    monkeypatch: pytest.MonkeyPatch, new_client: Callable[[], TestClient]
) -> Callable[..., TestClient]:
    """Create a client of the application with limits other than those in settings.json."""

    def make(**limits: int) -> TestClient:
        chosen = replace(settings(), limits=replace(settings().limits, **limits))
        monkeypatch.setattr(app, "settings", lambda: chosen)
        return new_client()

    return make

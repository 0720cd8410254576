"""Shared fixtures: a clean environment, and the application in process."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from lighthouse import app
from lighthouse.settings import settings

ADDRESS = "http://127.0.0.1:8000"


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

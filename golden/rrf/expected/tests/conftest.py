"""What the tests share: an environment that says nothing, and the application in process."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from plant_cards import app
from plant_cards.settings import settings

ADDRESS = "http://127.0.0.1:8100"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let settings.json alone say what this server does."""
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
    """What all callers send: a header that your `authorise` in custom.py asks for belongs here."""
    return {}


@pytest.fixture
def new_client(callers_headers: dict[str, str]) -> Callable[[], TestClient]:
    """Make a client of the application as it is configured then."""
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
    """Make a client of the application with other limits than those of settings.json."""

    def make(**limits: int) -> TestClient:
        chosen = replace(settings(), limits=replace(settings().limits, **limits))
        monkeypatch.setattr(app, "settings", lambda: chosen)
        return new_client()

    return make

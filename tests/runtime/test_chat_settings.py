"""The language model's settings: complete or absent, and never a key in a message."""

import pytest

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.model.client import ModelSettings

COMPLETE = {"LLM_BASE_URL": "https://api.example.com/v1/", "LLM_MODEL": "m", "LLM_API_KEY": "sk-1"}


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*COMPLETE, "LLM_MAX_TOKENS", "LLM_CONCURRENCY", "LLM_DAILY_CALLS"):
        monkeypatch.delenv(name, raising=False)


def use(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_without_variables_there_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, dict.fromkeys(COMPLETE, " "))
    assert ModelSettings.from_environment() is None


def test_complete_settings_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, {**COMPLETE, "LLM_MAX_TOKENS": "99", "LLM_DAILY_CALLS": "5"})
    settings = ModelSettings.from_environment()
    assert settings is not None
    assert settings.base_url == COMPLETE["LLM_BASE_URL"]
    assert (settings.max_tokens, settings.daily_calls, settings.concurrency) == (99, 5, 8)
    assert "sk-1" not in repr(settings)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"LLM_API_KEY": "sk-secret"}, "LLM_BASE_URL is not set"),
        ({"LLM_BASE_URL": "http://x"}, "LLM_MODEL is not set"),
        ({**COMPLETE, "LLM_BASE_URL": "ftp://x"}, "LLM_BASE_URL is unusable"),
        ({**COMPLETE, "LLM_BASE_URL": "https://u:sk-secret@x/v1"}, "LLM_BASE_URL is unusable"),
        ({**COMPLETE, "LLM_BASE_URL": "https://x/v1?key=sk-secret"}, "LLM_BASE_URL is unusable"),
        ({**COMPLETE, "LLM_API_KEY": "sk-secret\nx"}, "LLM_API_KEY is unusable"),
        ({**COMPLETE, "LLM_API_KEY": "sk-secret\N{SNOWMAN}"}, "LLM_API_KEY"),
        ({**COMPLETE, "LLM_MAX_TOKENS": "0"}, "LLM_MAX_TOKENS input should be greater than 0"),
        ({**COMPLETE, "LLM_CONCURRENCY": "1.5"}, "LLM_CONCURRENCY input should be a valid integer"),
        ({**COMPLETE, "LLM_TOTAL_SECONDS": "nan"}, "LLM_TOTAL_SECONDS input should be less than"),
        (
            {**COMPLETE, "LLM_DAILY_CALLS": "many"},
            "LLM_DAILY_CALLS input should be a valid integer",
        ),
    ],
)
def test_invalid_settings_are_refused(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str
) -> None:
    use(monkeypatch, variables)
    with pytest.raises(ConfigurationError, match=message) as caught:
        ModelSettings.from_environment()
    assert caught.value.hint
    assert "sk-secret" not in f"{caught.value.message} {caught.value.hint}"

"""Which callers may ask, and how often."""

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

TOKEN = "a-token-of-at-least-32-characters"
OTHER_TOKEN = "another-token-of-32-characters-or-more"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {OTHER_TOKEN}", 200),
        (f"Bearer {TOKEN}x", 401),
        ("", 401),
    ],
)
def test_token_opens_the_endpoints(
    monkeypatch: pytest.MonkeyPatch, new_client: Callable[[], TestClient], sent: str, status: int
) -> None:
    monkeypatch.setenv("API_TOKENS", f"{TOKEN}, {OTHER_TOKEN}")
    client = new_client()
    headers = {"Authorization": sent}
    for path in ("/search?q=a", "/openapi.json"):
        response = client.get(path, headers=headers)
        assert response.status_code == status
        assert ("www-authenticate" in response.headers) == (status == 401)
    missing = 404 if status == 200 else status
    assert client.get("/nowhere", headers=headers).status_code == missing
    assert client.get("/healthz", headers=headers).status_code == 200


def test_client_above_its_rate_gets_429(limited: Callable[..., TestClient]) -> None:
    client = limited(requests_per_minute=3)
    answers = [client.get("/search", params={"q": "a"}) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
    assert client.get("/openapi.json").status_code == 429
    assert client.get("/healthz").status_code == 200
    unlimited = limited(requests_per_minute=0)
    assert {unlimited.get("/search?q=a").status_code for _ in range(10)} == {200}


def test_each_token_has_its_own_rate_limit(
    limited: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKENS", f"{TOKEN},{OTHER_TOKEN}")
    client = limited(requests_per_minute=1)
    codes = [
        client.get("/search?q=a", headers={"Authorization": f"Bearer {token}"}).status_code
        for token in (TOKEN, OTHER_TOKEN, TOKEN, OTHER_TOKEN)
    ]
    assert codes == [200, 200, 429, 429]

"""Schemathesis over the OpenAPI document of an exported server: whatever is sent, no 5xx."""

from pathlib import Path

import pytest
import schemathesis
from conftest import CONFIG, Project
from hypothesis import HealthCheck, given, settings
from servers import in_checkout, serving

NEGATIVE = schemathesis.GenerationMode.NEGATIVE

pytestmark = pytest.mark.slow


def test_whatever_is_sent_is_answered_or_refused(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    (tmp_path / "foundry.toml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "sources" / "a.md").write_text("# Pump\n\nIt needs a seal.\n", encoding="utf-8")
    project = Project(tmp_path)
    project.succeed("build", "--quiet")
    asked: dict[str, set[int]] = {}
    with serving(in_checkout(project.export()), LOG_LEVEL="error") as address:
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
        for found in schema.get_all_operations():
            operation = found.ok()

            @settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
            @given(case=operation.as_strategy() | operation.as_strategy(generation_mode=NEGATIVE))
            def check(case: schemathesis.Case) -> None:
                response = case.call()
                asked.setdefault(f"{case.method} {case.path}", set()).add(response.status_code)
                assert response.status_code < 500, response.text
                # Under /v1, errors have the shape that OpenAI's clients know.
                if response.status_code >= 400 and not case.path.startswith("/v1/"):
                    assert response.headers["content-type"] == ["application/problem+json"]

            check()
    assert {"POST /search", "GET /search", "GET /documents/{document_id}"} <= set(asked)
    assert asked["POST /search"] >= {200, 422}

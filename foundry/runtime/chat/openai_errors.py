"""Errors on /v1 in the shape that OpenAI's clients read."""

from typing import Any

from starlette.responses import Response

from ..web.json import JsonResponse
from ..web.problems import Problem

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}

OPENAI_ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "The request was refused or failed.",
        "content": {
            "application/json": {
                "schema": {
                    "title": "OpenAiError",
                    "type": "object",
                    "required": ["error"],
                    "properties": {
                        "error": {
                            "type": "object",
                            "required": ["message", "type", "param", "code"],
                            "properties": {
                                "message": {"type": "string"},
                                "type": {"type": "string"},
                                "param": {"type": ["string", "null"]},
                                "code": {"type": ["string", "null"]},
                            },
                        }
                    },
                }
            }
        },
    }
}
"""What the OpenAPI document says about every answer of /v1 that is not a success."""


def openai_error(
    status: int, message: str, *, param: str | None = None, code: str | None = None
) -> Response:
    """An error as OpenAI answers it; `param` is the field to mend."""
    default = "server_error" if status >= 500 else "invalid_request_error"
    error = {
        "message": message,
        "type": _TYPES.get(status, default),
        "param": param,
        "code": code,
    }
    return JsonResponse({"error": error}, status_code=status)


def openai_problem(problem: Problem) -> Response:
    """Answer a problem of /v1 as OpenAI does, with 400 where others get 422."""
    status = 400 if problem.status == 422 else problem.status
    param = problem.errors[0][0] if problem.errors else None
    response = openai_error(status, problem.detail, param=param)
    response.headers.update(problem.headers)
    return response

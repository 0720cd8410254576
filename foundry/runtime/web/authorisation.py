"""The owner's hooks in the HTTP application: who may pass, and further routes."""

from collections.abc import Callable

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from ..retrieval.hooks import Caller, Hooks
from .access import OPEN_PATHS
from .problems import problem_response


def apply_hooks(app: FastAPI, hooks: Hooks) -> None:
    """Put the hooks that there are into an application that has all of its own routes."""
    if hooks.add_routes is not None:
        hooks.add_routes(app)
    if hooks.authorise is not None:
        app.add_middleware(Authorisation, authorise=hooks.authorise)


class Authorisation:
    """ASGI middleware: 403 for callers whom the owner's hook does not let pass."""

    def __init__(self, app: ASGIApp, *, authorise: Callable[[Caller], bool]) -> None:
        self._app = app
        self._authorise = authorise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            headers = {
                name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
            }
            if not self._authorise(Caller(scope["method"], scope["path"], headers)):
                await problem_response(403, "This caller may not pass.")(scope, receive, send)
                return
        await self._app(scope, receive, send)

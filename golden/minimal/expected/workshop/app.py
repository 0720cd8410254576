"""The HTTP application: which doors are open, and what stands in front of them."""

from fastapi import FastAPI

from . import __version__
from .search import search_hybrid
from .settings import settings
from .web_access import AccessPolicy
from .web_guard import Guard
from .web_problems import PROBLEM_HANDLERS
from .web_routes import content_routes, health_routes, search_routes


def create_app() -> FastAPI:
    """Compose the application.

    Raises ConfigurationError for settings or environment variables that cannot be used.
    """
    chosen = settings()
    app = FastAPI(
        title=chosen.title,
        description=chosen.description,
        version=__version__,
        # The interactive pages would load their scripts from other people's servers.
        docs_url=None,
        redoc_url=None,
        # A redirect would be built from the Host header.
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
        exception_handlers=PROBLEM_HANDLERS,
    )
    app.include_router(search_routes(search_hybrid))
    app.include_router(content_routes)
    app.include_router(health_routes)
    app.add_middleware(
        Guard,
        policy=AccessPolicy.from_environment(chosen.allowed_hosts),
        max_body_bytes=chosen.max_body_bytes,
    )
    return app

"""The HTTP application: which doors are open, and what stands in front of them."""

from fastapi import FastAPI

from . import __version__, search_hybrid
from .custom import HOOKS
from .mcp.http import mcp_routes
from .retrieval.settings import settings
from .retrieval.stages.parents import find_passage
from .retrieval.stages.rerank import warm_if_wanted
from .retrieval.weights import weights
from .web.access import AccessPolicy
from .web.citations import announce_no_pages
from .web.middleware import Middleware
from .web.observing import metrics_routes, observe_search
from .web.problems import Problems
from .web.routes import content_routes, health_routes, search_routes
from .web.runner import in_threads


def create_app() -> FastAPI:
    """Compose the application.

    Raises ConfigurationError for settings or environment variables that cannot be used.
    """
    chosen = settings()
    announce_no_pages()
    # What is wrong with them is said now, and not to whoever searches first.
    weights()
    problems = Problems()
    app = FastAPI(
        title=chosen.title,
        description=chosen.description,
        version=__version__,
        # The interactive pages would load their scripts from other people's servers.
        docs_url=None,
        redoc_url=None,
        # A redirect would be built from the Host header.
        redirect_slashes=False,
        # `web.observing` traces requests, without what they ask.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        exception_handlers=problems.handlers,
    )
    warm_if_wanted()
    search = in_threads(observe_search(search_hybrid))
    app.include_router(search_routes(search))
    app.include_router(content_routes)
    app.include_router(health_routes())
    app.include_router(metrics_routes())
    app.router.routes.extend(mcp_routes(search, __version__, find_passage))
    if HOOKS.add_routes is not None:
        HOOKS.add_routes(app)
    app.add_middleware(
        Middleware,
        policy=AccessPolicy.from_environment(chosen.allowed_hosts),
        limits=chosen.limits,
        max_body_bytes=chosen.max_body_bytes,
        problems=problems,
        authorise=HOOKS.authorise,
    )
    return app

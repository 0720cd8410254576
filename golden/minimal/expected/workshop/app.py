"""The HTTP application: which doors are open, and what stands in front of them."""

from fastapi import FastAPI

from . import __version__, search_hybrid
from .chat_answer import Chat
from .chat_settings import ModelSettings
from .custom import HOOKS
from .mcp_http import mcp_routes
from .settings import settings
from .web_access import AccessPolicy
from .web_admission import Admission
from .web_agents import agent_routes
from .web_chat import chat_routes
from .web_guard import Guard
from .web_hooks import apply_hooks
from .web_metrics import metrics_routes
from .web_observer import Observer, observe_search
from .web_openai import openai_routes
from .web_openai_errors import OpenAiErrors
from .web_page import is_page, page_routes
from .web_page_chat import chat_page
from .web_page_data import page_data_routes
from .web_problems import PROBLEM_HANDLERS
from .web_rates import RateLimits
from .web_routes import content_routes, health_routes, search_routes
from .weights import weights


def create_app() -> FastAPI:
    """Compose the application.

    Raises ConfigurationError for settings or environment variables that cannot be used.
    """
    chosen = settings()
    # What is wrong with them is said now, and not to whoever searches first.
    weights()
    app = FastAPI(
        title=chosen.title,
        description=chosen.description,
        version=__version__,
        # The interactive pages would load their scripts from other people's servers.
        docs_url=None,
        redoc_url=None,
        # A redirect would be built from the Host header.
        redirect_slashes=False,
        # `web_observer` traces requests, without what they ask.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        exception_handlers=PROBLEM_HANDLERS,
    )
    search = observe_search(search_hybrid)
    app.include_router(search_routes(search))
    chat = Chat(search, ModelSettings.from_environment(), chosen.chat_instructions)
    app.include_router(chat_routes(chat))
    app.include_router(openai_routes(chat, chosen.name))
    app.include_router(content_routes)
    app.include_router(health_routes)
    app.include_router(metrics_routes)
    app.include_router(page_routes(chat_page()))
    app.include_router(page_data_routes(chat=True))
    app.include_router(agent_routes)
    app.router.routes.extend(mcp_routes(search, __version__))
    apply_hooks(app, HOOKS)
    policy = AccessPolicy.from_environment(chosen.allowed_hosts, is_page)
    # The one added last is the first that a request meets.
    by_token = bool(policy.token_digests)
    app.add_middleware(Admission, limits=chosen.limits, by_token=by_token)
    app.add_middleware(RateLimits, limits=chosen.limits, by_token=by_token)
    app.add_middleware(Guard, policy=policy, max_body_bytes=chosen.max_body_bytes)
    app.add_middleware(OpenAiErrors)
    app.add_middleware(Observer)
    return app

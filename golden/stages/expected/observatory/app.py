"""The HTTP application: its endpoints, and the checks that every request passes."""

from fastapi import FastAPI

from . import __version__, search_hybrid
from .chat.embeddings import embedding_routes
from .chat.guarded_model import GuardedModel
from .chat.model_answer import ModelChat
from .chat.openai import answer_openai_failure as answer_failure
from .chat.openai import openai_routes
from .chat.routes import chat_routes
from .chat.support import CheckedEvent
from .custom import HOOKS
from .mcp.http import mcp_routes
from .retrieval.hybrid import weights
from .settings import settings
from .web.access import rate_checks, read_tokens, token_check
from .web.citations import public_servers
from .web.documents import document_routes
from .web.middleware import Middleware
from .web.observing import (
    TELEMETRY,
    count_question,
    metrics_routes,
    observe_request,
    observe_search,
)
from .web.openapi import Application
from .web.page import agent_routes, is_page, page_routes
from .web.problems import FAILURES, PROBLEM_RESPONSES
from .web.questions import QuestionLog
from .web.routes import health_routes, in_event_loop, search_routes
from .web.suggest import suggest_routes
from .web.thumbs import thumb_routes
from .web.unfinished import completing


def create_app() -> FastAPI:
    """Create the application.

    Raises ConfigurationError for invalid settings or environment variables.
    """
    chosen = settings()
    app = Application(
        title=chosen.title,
        description=chosen.description,
        version=__version__,
        servers=public_servers(),
        asks_for_tokens=bool(read_tokens()),
        telemetry=TELEMETRY,
        # The interactive pages would load their scripts from other people's servers.
        docs_url=None,
        redoc_url=None,
        # A redirect would be built from the Host header.
        redirect_slashes=False,
        exception_handlers=dict.fromkeys(FAILURES, answer_failure),
        responses=PROBLEM_RESPONSES,
    )
    # Report invalid configuration now instead of in the first search.
    weights()
    questions = QuestionLog.open(count_question)

    find = completing(search_hybrid)
    find = observe_search(find)
    find = questions.keep(find)
    search = in_event_loop(find)
    app.include_router(search_routes(search))
    app.include_router(suggest_routes)
    chat = ModelChat(search, GuardedModel.from_environment(), chosen.chat_instructions)
    app.include_router(chat_routes(chat.answer, CheckedEvent))
    app.include_router(openai_routes(chat.answer, chosen.name))
    app.include_router(embedding_routes(chosen.name))
    app.include_router(document_routes)
    app.include_router(thumb_routes(questions))
    app.include_router(health_routes())
    app.router.routes.extend(mcp_routes(search, __version__))
    app.include_router(page_routes(bool(read_tokens())))
    app.include_router(agent_routes)
    HOOKS.open_routes(app)
    app.include_router(metrics_routes)

    app.add_middleware(
        Middleware,
        allowed_hosts=chosen.allowed_hosts,
        limits=chosen.limits,
        max_body_bytes=chosen.max_body_bytes,
        answer_failure=answer_failure,
        queues={"/mcp": "mcp", "/mcp/": "mcp", "/chat": "chat", "/v1/chat/completions": "chat"},
        check_token=token_check(is_page),
        check_rates=rate_checks(chosen.limits),
        authorise=HOOKS.check,
        observe=observe_request,
    )
    return app

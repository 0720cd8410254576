"""Your own code, called through every interface; updates keep what you write here.

`Hooks` takes `before_search`, `after_search`, `authorise` and `add_routes`; see
`retrieval/hooks.py`. The first two apply only to searches: any document can still be read by its
id, unless `authorise` rejects the request. This adds an endpoint:

    from fastapi import FastAPI

    def add_routes(app: FastAPI) -> None:
        @app.get("/opening-hours")
        def opening_hours() -> dict[str, str]:
            return {"monday": "9 to 17"}

    HOOKS = Hooks(add_routes=add_routes)

This restricts searches to documents tagged `public`, with `Hooks(before_search=only_public)`:

    from dataclasses import replace

    from .retrieval.hooks import SearchRequest

    def only_public(request: SearchRequest) -> SearchRequest:
        tags = (*request.filters.get("tags", ()), "public")
        return replace(request, filters={**request.filters, "tags": tags})
"""

from .retrieval.hooks import Hooks

HOOKS = Hooks()

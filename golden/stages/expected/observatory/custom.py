"""Your own code, called through every interface; updates keep what you write here.

`Hooks` takes `before_search`, `after_search`, `authorise` and `add_routes`, which are described in
`retrieval/hooks.py`. The first two only concern searches: by its id, any document can still be read
unless `authorise` refuses. This adds an endpoint:

    from fastapi import FastAPI

    def add_routes(app: FastAPI) -> None:
        @app.get("/opening-hours")
        def opening_hours() -> dict[str, str]:
            return {"monday": "9 to 17"}

    HOOKS = Hooks(add_routes=add_routes)

And this finds only what is tagged `public`, by `Hooks(before_search=only_public)`:

    from dataclasses import replace

    def only_public(request: SearchRequest) -> SearchRequest:
        tags = (*request.filters.get("tags", ()), "public")
        return replace(request, filters={**request.filters, "tags": tags})
"""

from .retrieval.hooks import Hooks

HOOKS = Hooks()

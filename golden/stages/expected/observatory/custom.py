"""Your own code. Foundry wrote this file once; no update changes it after you have edited it.

Give `Hooks` functions, as `retrieval/hooks.py` describes them. This one has every search
find what is tagged `public` alone, whatever else it is filtered by (`replace` is that of
`dataclasses`):

    def only_public(request: SearchRequest) -> SearchRequest:
        filters = request.filters or Filters()
        return replace(request, filters=replace(filters, tags=(*filters.tags, "public")))

    HOOKS = Hooks(before_search=only_public)
"""

from .retrieval.hooks import Hooks

HOOKS = Hooks()

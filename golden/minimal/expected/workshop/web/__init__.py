"""The HTTP application: routes, access, limits, pages and serving."""

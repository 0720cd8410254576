"""Fetches from the web, only through `fetcher.Fetcher.fetch`.

Connections are only made to public addresses, unless the user allows a host. Every response is
limited in bytes and time, robots.txt is obeyed, and a cached page is requested with its validators.
"""

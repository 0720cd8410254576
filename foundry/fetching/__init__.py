"""Fetches from the web: pages through `fetcher.Fetcher`, repositories through `relay.Relay`.

Connections are only made to public addresses, unless the user allows a host. For pages, every
response is limited in bytes and time, robots.txt is obeyed, and a cached page is requested with its
validators.
"""

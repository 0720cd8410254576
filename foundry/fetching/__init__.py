"""Fetches from the web, only through `fetcher.Fetcher.fetch`.

It only connects to public addresses, unless the user allows a host; every response is limited in
bytes and time; robots.txt is obeyed; a cached page is requested with its validators.
"""

"""The one way to ask the web for something: `fetcher.Fetcher.fetch`.

Only public addresses are connected to, unless the configuration names a host; every answer is
bounded in bytes and time; robots.txt is obeyed; a page that is known already is asked for with its
validators.
"""

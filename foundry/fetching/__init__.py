"""The one way to ask the web for something: `fetcher.Fetcher.fetch`.

Only public addresses are connected to, unless the configuration names a host; every answer is
bounded in bytes and time; robots.txt is obeyed; what is known from before is asked for again with
its validators.
"""

"""Reads MediaWiki markup."""

"""Shared parts of Word, PowerPoint and Excel: packages, equations, charts, drawings."""

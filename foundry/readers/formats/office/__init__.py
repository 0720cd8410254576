"""What Word, PowerPoint and Excel have in common: packages, equations, charts, drawings."""

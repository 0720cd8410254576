"""Tables that plain Markdown does not have: Pandoc's and MyST's."""

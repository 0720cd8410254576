"""Tables that Markdown does not have: of Pandoc, of MyST."""

"""HTML pages: finding their content, and converting it to Markdown."""

"""Pages of HTML: what of them is content, and how it is written as Markdown."""

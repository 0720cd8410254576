"""PowerPoint's slides."""

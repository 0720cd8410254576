"""Reading websites."""

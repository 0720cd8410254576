"""Whether an export is settled, complete and able to answer."""

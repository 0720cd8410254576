"""Files and small databases that survive a crash."""

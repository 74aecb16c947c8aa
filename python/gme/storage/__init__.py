"""Files and arrays that appear whole, are locked while they are written, and survive a crash."""

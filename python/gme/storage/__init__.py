"""Files and arrays that appear whole, under locks, and survive a crash."""

"""Slow, obvious twins of what gme does fast."""

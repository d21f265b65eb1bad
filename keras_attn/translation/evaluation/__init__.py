"""Scores of translations, and the report of them."""

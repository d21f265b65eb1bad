"""Evaluation: scores of translations, and the report."""

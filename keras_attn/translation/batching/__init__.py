"""Batches of pairs, bucketed by length."""

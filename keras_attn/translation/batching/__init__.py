"""Batches of sentence pairs, bucketed by length."""

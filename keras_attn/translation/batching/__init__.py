"""Batches of pairs of similar length."""

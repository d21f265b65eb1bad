"""Corpora: read, cleaned and split."""

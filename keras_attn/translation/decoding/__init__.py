"""Decoding: greedy search, beam search, sampling and scoring of target ids."""

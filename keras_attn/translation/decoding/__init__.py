"""Decoding: from source ids to target ids."""

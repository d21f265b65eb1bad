"""Search: from source ids to target ids."""

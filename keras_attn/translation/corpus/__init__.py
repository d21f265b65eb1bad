"""Text: corpora read, cleaned and split."""

"""Training of the translation model."""

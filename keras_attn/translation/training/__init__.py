"""Training of the model."""

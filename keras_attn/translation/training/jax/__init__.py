"""Training on JAX: compiled shapes, copies of the model, several processes."""

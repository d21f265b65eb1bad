"""Export: the SavedModel with its model card, figures and warm-up requests."""

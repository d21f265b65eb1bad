"""Import: models of other programs become exported versions."""

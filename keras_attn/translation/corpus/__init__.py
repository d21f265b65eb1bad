"""Corpora: reading, cleaning and splitting into training, validation and test."""

"""The SavedModel, and the pages and files that come with it."""

"""A server for the SavedModel: TensorFlow Serving's REST API, and a page to try the translator."""

"""Server for an exported translator: REST API of TensorFlow Serving, and a web page."""

"""Base of the protocols of the server."""

from keras_attn.serving.inference import Inference
from keras_attn.serving.models import Models


class Api:
    """Protocol: requests about the models of the server, and their computation."""

    def __init__(self, models: Models, inference: Inference):
        self._models = models
        self._inference = inference
        self._settings = inference.limits

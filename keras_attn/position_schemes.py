"""Position schemes by name, for layers, `train.py --position` and documents.

A new scheme is a class in `keras_attn/layers/`, and a row here. Keras is not imported here: it
would take seconds from `--help`.
"""

from typing import Any

# Name of the class, and its arguments. `max_len` is the owner's, where the owner knows it. Shaw et
# al. 2018, table 2, found no gain beyond a distance of 16.
SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    "sinusoidal": ("PositionalEncoding", {"max_len": 1000}),
    "sinusoidal_halves": ("PositionalEncoding", {"max_len": 1000, "interleaved": False}),
    "learned": ("LearnedPositionalEncoding", {"max_len": None}),
    "shaw": ("ShawRelativePosition", {"max_distance": 16}),
    "t5": ("T5RelativeBias", {}),
    "alibi": ("AlibiBias", {}),
    "rotary": ("RotaryEmbedding", {}),
}

"""The backend of Keras for processes that only import: NumPy's, or the one of the tests.

NumPy's is imported fastest, but imports SciPy and JAX, which are optional.
"""

from importlib.util import find_spec

import keras

HAS_NUMPY_BACKEND = all(map(find_spec, ("scipy", "jax")))
QUICKEST_BACKEND = "numpy" if HAS_NUMPY_BACKEND else keras.backend.backend()

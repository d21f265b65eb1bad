"""Train a Japanese to English Transformer and export it as a SavedModel: `python train.py`.

In a clone, this is short for `keras-attn train`.
"""

import sys

from keras_attn.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))

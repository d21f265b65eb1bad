"""`python -m keras_attn.translation COMMAND`, the same as `python -m keras_attn COMMAND`."""

import sys

from keras_attn.__main__ import main

if __name__ == "__main__":
    sys.exit(main())

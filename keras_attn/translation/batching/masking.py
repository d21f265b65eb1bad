"""Parts of a corpus with placeholders in their pairs."""

from collections.abc import Sequence
from concurrent.futures import Future
from threading import Thread
from typing import Any

import numpy as np

from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair, WeightedPairs
from keras_attn.translation.text.training_placeholders import mask_pair
from keras_attn.translation.tokenization.tokenizer import Tokenizers


class MaskedParts(Sequence[WeightedPairs]):
    """The parts with placeholders, the same ones from the same seed.

    The first part is begun at once, in a thread: tokenizers are trained meanwhile, in native code
    that leaves the interpreter free. Other parts are made when asked for.
    """

    def __init__(self, parts: Sequence[WeightedPairs], config: Config):
        self._parts, self._config = parts, config
        self._first: Future[WeightedPairs] = Future()
        Thread(target=self._mask_first, daemon=True).start()  # no end of the program waits for it

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, number: Any) -> Any:
        return self._first.result() if number == 0 else self._masked(number)

    def for_tokenizers(self, tokenizers: Tokenizers) -> Sequence[WeightedPairs]:
        """These parts, or those without placeholders, which imported tokenizers do not know."""
        return self._parts if tokenizers.source.is_imported else self

    def _mask_first(self) -> None:
        try:
            self._first.set_result(self._masked(0))
        except BaseException as error:
            self._first.set_exception(error)

    def _masked(self, number: int) -> WeightedPairs:
        part, config = self._parts[number], self._config
        languages = config.source, config.target
        random = np.random.default_rng([config.seed, number])
        pairs = [Pair(*mask_pair(*pair, languages, random)) for pair in part.pairs]
        return part._replace(pairs=pairs)

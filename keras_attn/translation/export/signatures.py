"""Signatures of the SavedModel, from strings to strings and numbers, entirely in the graph."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.limits import num_tokens
from keras_attn.translation.decoding.sampling import sample_translations
from keras_attn.translation.decoding.search import Search
from keras_attn.translation.decoding.teacher_forcing import attention_to_source, log_probabilities
from keras_attn.translation.model import in_dtype
from keras_attn.translation.special_ids import EOS_ID, PAD_ID
from keras_attn.translation.tokenization import sentences
from keras_attn.translation.tokenization.in_graph import GraphTokenizer
from keras_attn.translation.tokenization.tokenizer import Tokenizers

# Maximum number of rows searched at once, so that memory does not grow with a request.
ROWS_AT_ONCE = 128


class Signatures:
    """Functions of a SavedModel; the signatures have the same names, except `translate`.

    Args:
        model: Trained model.
        tokenizers: Tokenizers of the model.
        config: Configuration of the model.

    Attributes:
        source: Source tokenizer in the graph.
        target: Target tokenizer in the graph.
        model: Trained model in the precision of serving.
    """

    def __init__(self, model: Transformer, tokenizers: Tokenizers, config: Config):
        self._config = config
        self._joiner = sentences.joiner(config.target)
        self.model = in_dtype(model, config.serving_precision)
        self._search_ids = {
            num_best: Search(self.model, config, num_best) for num_best in (1, config.beam_size)
        }
        self.source, self.target = (GraphTokenizer(tokenizer.proto) for tokenizer in tokenizers)

    def translate(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Best translation of each text; signature `serving_default`."""
        translations, _ = self._search(text, 1)
        return {"translation": translations[:, 0]}

    def nbest(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translations `(B, beam_size)` and scores `(B, beam_size)` of each text, best first.

        For a text in several parts, the n-th translation joins the n-th translations of all parts,
        and the score is the sum of the scores of the parts.
        """
        translations, scores = self._search(text, self._config.beam_size)
        return {"translations": translations, "scores": scores}

    def sample(
        self,
        text: tf.Tensor,
        seed: tf.Tensor,
        temperature: tf.Tensor,
        top_k: tf.Tensor,
        top_p: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """Sampled translation of each text; text is truncated to `max_pieces`."""
        source_ids = self._ids(self.source, text)
        tokens = sample_translations(
            self.model, source_ids, self._config, seed, temperature, top_k, top_p
        )
        tokens = _nothing_for_nothing(source_ids, tokens)
        return {"translation": self.target.detokenize(_without_padding(tokens))}

    def score(self, text: tf.Tensor, translation: tf.Tensor) -> dict[str, tf.Tensor]:
        """Log probability of each translation; both sides are truncated to `max_pieces`."""
        source_ids, target_ids = self._ids(self.source, text), self._ids(self.target, translation)
        return {"log_probability": log_probabilities(self.model, source_ids, target_ids)}

    def attend(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translation of each text and its cross-attention weights; text is truncated.

        Pieces are padded with empty strings, weights `(B, layers, H, T, S)` with zeros.
        """
        source_ids = self._ids(self.source, text)
        found = self._search_ids[1](source_ids)
        tokens = _nothing_for_nothing(source_ids, found.tokens[:, 0])
        target_ids = _with_end(_without_padding(tokens))
        weights = attention_to_source(self.model, source_ids, target_ids)
        return {
            "translation": self.target.detokenize(_without_padding(tokens)),
            "source_pieces": _pieces(self.source, source_ids),
            "target_pieces": _pieces(self.target, target_ids),
            "weights": weights,
        }

    def _ids(self, tokenizer: GraphTokenizer, text: tf.Tensor) -> tf.Tensor:
        return _with_end(tokenizer.tokenize(text)[:, : self._config.max_pieces - 1])

    def _text(self, tokens: tf.Tensor) -> tf.Tensor:
        """Detokenize ids `(B, N, L)` to strings `(B, N)`."""
        shape = tf.shape(tokens)
        flat = _without_padding(tf.reshape(tokens, [shape[0] * shape[1], shape[2]]))
        return tf.reshape(self.target.detokenize(flat), shape[:2])

    def _search(self, text: tf.Tensor, num_best: int) -> tuple[tf.Tensor, tf.Tensor]:
        """Translations and scores, both `(B, N)`, of texts of any length."""
        limit = self._config.max_pieces - 1
        parts, owners = sentences.parts(text, self.source.tokenize, limit)
        translations, scores = self._search_parts(parts, num_best)
        num_texts = tf.size(text)
        joined = tf.strings.unsorted_segment_join(
            translations, owners, num_texts, separator=self._joiner
        )
        return joined, tf.math.unsorted_segment_sum(scores, owners, num_texts)

    def _search_parts(self, parts: tf.RaggedTensor, num_best: int) -> tuple[tf.Tensor, tf.Tensor]:
        """Translations and scores, both `(parts, N)`; searches parts of similar length together."""
        order = tf.argsort(parts.row_lengths(), stable=True)
        ordered = tf.gather(parts, order)
        num_parts = tf.size(order)

        def unfinished(done: tf.Tensor, translations: tf.Tensor, scores: tf.Tensor) -> tf.Tensor:
            return done < num_parts

        def extend(done: tf.Tensor, translations: tf.Tensor, scores: tf.Tensor):
            source_ids = _with_end(ordered[done : done + ROWS_AT_ONCE])
            found = self._search_ids[num_best](source_ids)
            return (
                done + ROWS_AT_ONCE,
                tf.concat([translations, self._text(found.tokens)], axis=0),
                tf.concat([scores, found.scores], axis=0),
            )

        shape = tf.TensorShape([None, num_best])
        _, translations, scores = tf.while_loop(
            unfinished,
            extend,
            (tf.constant(0), tf.zeros([0, num_best], tf.string), tf.zeros([0, num_best])),
            shape_invariants=(tf.TensorShape([]), shape, shape),
        )
        as_given = tf.argsort(order)
        return tf.gather(translations, as_given), tf.gather(scores, as_given)


def _with_end(pieces: tf.RaggedTensor) -> tf.Tensor:
    """Append EOS and pad: int32 `(B, S)`."""
    end = tf.fill([pieces.nrows(tf.int32), 1], EOS_ID)
    return tf.concat([pieces, end], axis=1).to_tensor(PAD_ID)


def _nothing_for_nothing(source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
    """Clear the target ids of sources without pieces before EOS."""
    return tf.where(num_tokens(source_ids)[:, None] > 1, target_ids, PAD_ID)


def _without_padding(ids: tf.Tensor) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_tensor(ids, padding=PAD_ID)


def _pieces(tokenizer: GraphTokenizer, ids: tf.Tensor) -> tf.Tensor:
    """Piece of each id; empty for padding."""
    return tf.where(tf.equal(ids, PAD_ID), "", tokenizer.id_to_string(ids))

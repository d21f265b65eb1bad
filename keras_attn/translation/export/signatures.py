"""Signatures of the SavedModel, from strings to strings and numbers, entirely in the graph."""

from functools import partial

import tensorflow as tf

from keras_attn.languages import read_language
from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beam_search import LengthPenalty
from keras_attn.translation.decoding.beams import Hypotheses
from keras_attn.translation.decoding.constraints import num_tokens
from keras_attn.translation.decoding.parallel import in_groups, in_shards
from keras_attn.translation.decoding.sampling import sample_translations
from keras_attn.translation.decoding.search import Search
from keras_attn.translation.decoding.teacher_forcing import log_probabilities_of
from keras_attn.translation.export.explainer import Explainer
from keras_attn.translation.model import in_dtype
from keras_attn.translation.special_ids import EOS_ID, PAD_ID, PLACEHOLDER_IDS
from keras_attn.translation.text import placeholders, sentences
from keras_attn.translation.text.placeholders import PLACEHOLDERS
from keras_attn.translation.tokenization import language_tokens
from keras_attn.translation.tokenization.in_graph import GraphTokenizer
from keras_attn.translation.tokenization.tokenizer import Tokenizers

# Maximum number of rows searched at once, so that memory does not grow with a request.
ROWS_AT_ONCE = 128
# Number of shards of a large batch where no program sets it. On a single core, two shards take a
# quarter longer than one (benchmarks/results/decode.md).
NUM_SHARDS = 2
# A translation below this mean log probability of a token is uncertain. With the default training,
# this marks two thirds of the bad translations of `tatoeba` (chrF below 30), one in eleven of the
# good ones (chrF above 60), and 1% of `everyday`.
UNCERTAIN_BELOW = -0.7


class Signatures:
    """Functions of a SavedModel; the signatures have the same names, except two.

    `translate` is `serving_default`, and `continue_` is `continue`.
    """

    def __init__(self, model: Transformer, tokenizers: Tokenizers, config: Config):
        self._config = config
        self._joiner = read_language(config.target).joiner
        self._length_penalty = LengthPenalty.of(config)
        # The tokenizers of imported models have language tokens, and no placeholders.
        self._is_imported = tokenizers.source.is_imported
        placeholder_ids = () if self._is_imported else PLACEHOLDER_IDS
        self.model = in_dtype(model, config.serving_precision)
        self._search_ids = Search(self.model, config, placeholder_ids)
        self.source, self.target = (GraphTokenizer(tokenizer.proto) for tokenizer in tokenizers)
        self._explain = Explainer(self.model, config, self.source, self.target, placeholder_ids)
        # A program that loads the SavedModel may change the number.
        self.num_shards = tf.Variable(NUM_SHARDS, trainable=False, name="num_shards")
        # `tf.function`, so that the signatures of a SavedModel share these graphs.
        graph = partial(tf.function, autograph=False)
        strings, values = (tf.TensorSpec([None] * rank, tf.string) for rank in (1, 2))
        number, boolean = (tf.TensorSpec([], dtype) for dtype in (tf.int32, tf.bool))
        terms = [strings, strings]
        self._mask_texts = graph(self._mask, input_signature=[strings, *terms])
        self._unmask_texts = graph(self._unmask, input_signature=[strings, values])
        self._search = graph(self._translations, input_signature=[strings, *terms, number, boolean])

    def translate(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Best translation of each text; signature `serving_default`."""
        translations, _, _ = self._search(text, *_no_terms(), 1, False)
        return {"translation": translations[:, 0]}

    def glossary(
        self, text: tf.Tensor, term: tf.Tensor, term_translation: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Best translation of each text, with given translations of the terms `(G,)`."""
        translations, _, _ = self._search(text, term, term_translation, 1, False)
        return {"translation": translations[:, 0]}

    def nbest(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translations and scores `(B, beam_size)` of each text, best first.

        For a text of several sentences, the n-th translation joins the n-th translations of all
        sentences, and the score is the sum of their scores. `is_uncertain (B,)` marks texts with a
        best translation of low probability, and texts with characters that training hardly saw.
        """
        number = self._config.beam_size
        translations, scores, is_uncertain = self._search(text, *_no_terms(), number, True)
        return {
            "translations": tf.ensure_shape(translations, [None, number]),
            "scores": tf.ensure_shape(scores, [None, number]),
            "is_uncertain": is_uncertain,
        }

    def sample(
        self,
        text: tf.Tensor,
        seed: tf.Tensor,
        temperature: tf.Tensor,
        top_k: tf.Tensor,
        top_p: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """Sampled translation of each text; text is truncated to `max_length`."""
        source_ids, values = self._read(text)
        memory = self._search_ids.encode(source_ids)
        tokens = sample_translations(
            self.model, memory, self._config, seed, temperature, top_k, top_p
        )
        return {"translation": self._write(_nothing_for_nothing(source_ids, tokens), values)}

    def score(self, text: tf.Tensor, translation: tf.Tensor) -> dict[str, tf.Tensor]:
        """Log probability of each translation; both sides are truncated to `max_length`."""
        source_ids, values = self._read(text)
        target_ids = self._ids(self.target, placeholders.mask_translations(translation, values))

        def log_probabilities(source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
            return log_probabilities_of(self._explain.logits(source_ids, target_ids), target_ids)

        ids, output = (source_ids, target_ids), tf.TensorSpec([], tf.float32)
        found = in_groups(log_probabilities, ids, tf.shape(target_ids)[1], output)
        return {"log_probability": found}

    def attend(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translation of each text with the outputs of `Explainer`; text is truncated."""
        source_ids, values = self._read(text)
        return self._explained(source_ids, self._search_ids(source_ids, scored=False), values)

    def continue_(self, text: tf.Tensor, prefix_pieces: tf.Tensor) -> dict[str, tf.Tensor]:
        """Outputs of `attend` for the best translation that begins with given target pieces.

        `prefix_pieces (B, P)` are pieces as `attend` gives them, padded with empty strings. The
        translation is empty where the rules of the search forbid the prefix, or where a piece is
        not in the vocabulary.
        """
        source_ids, values = self._read(text)
        prefix = self._explain.prefix_ids(prefix_pieces, values)
        found = self._search_ids.with_prefix(prefix, source_ids)
        return self._explained(source_ids, found, values)

    def _explained(
        self, source_ids: tf.Tensor, found: Hypotheses, values: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        tokens = _nothing_for_nothing(source_ids, found.tokens[:, 0])
        translation = self._write(tokens, values)
        return {
            "translation": tf.where(tf.math.is_inf(found.scores[:, 0]), "", translation),
            **self._explain(source_ids, _with_end(_without_padding(tokens)), values),
        }

    def _mask(
        self, text: tf.Tensor, term: tf.Tensor, term_translation: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Masked texts, and the value of each placeholder (`placeholders.mask`)."""
        if self._is_imported:
            return text, tf.fill([tf.size(text), len(PLACEHOLDERS)], "")
        return placeholders.mask(text, self._config.target, term, term_translation)

    def _unmask(self, translation: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        """Translations with values in place of placeholders (`placeholders.unmask`)."""
        if self._is_imported:
            return translation
        return placeholders.unmask(translation, values, self._config.target)

    def _language(self, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Language token of each text, the default for those without one, and the other text."""
        if not self._is_imported:
            return tf.fill(tf.shape(text), ""), text
        token, text = language_tokens.split_in_graph(text)
        return tf.where(token == "", self._config.language_token, token), text

    def _read(self, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Source ids `(B, S)` of truncated texts, and the values of their placeholders."""
        masked, values = self._mask_texts(text, *_no_terms())
        return self._ids(self.source, tf.strings.join(self._language(masked))), values

    def _write(self, tokens: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        """Text of target ids `(B, T)`, with values in place of placeholders."""
        return self._unmask_texts(self.target.detokenize(_without_padding(tokens)), values)

    def _ids(self, tokenizer: GraphTokenizer, text: tf.Tensor) -> tf.Tensor:
        return _with_end(tokenizer.tokenize(text)[:, : self._config.max_length - 1])

    def _translations(
        self,
        text: tf.Tensor,
        term: tf.Tensor,
        term_translation: tf.Tensor,
        num_best: tf.Tensor,
        scored: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Translations and scores, both `(B, N)`, and `is_uncertain (B,)` of texts of any length.

        Without `scored`, scores and `is_uncertain` have no meaning (`BeamSearch`).

        Sentences are translated one by one. Text without a letter of the source language, such as
        numbers, emoji and other scripts, is returned as given.
        """
        # Bytes that are no text become U+FFFD, also where text is returned as given.
        text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="replace")
        token, text = self._language(text)
        found = sentences.split(text)
        is_source = sentences.is_in_language(found.text, self._config.source)
        given = tf.where(is_source, found.text, "")
        given, values = self._mask_texts(given, term, term_translation)
        pieces = self.source.tokenize(given)
        limit = self._config.max_length - 1
        if self._is_imported:  # with room for a language token
            limit = max(limit - 1, 1)
        parts, owners = sentences.parts(pieces, limit)
        if self._is_imported:
            of_part = tf.gather(tf.gather(token, found.owner), owners)
            parts = tf.concat([self.source.language_ids(of_part), parts], axis=1)
        translations, scores, is_uncertain = self._search_parts(parts, num_best, scored)
        num_sentences, num_texts = tf.size(given), tf.size(text)
        whole = tf.strings.unsorted_segment_join(
            translations, owners, num_sentences, separator=self._joiner
        )
        restored = self._unmask_texts(tf.reshape(whole, [-1]), tf.repeat(values, num_best, axis=0))
        whole = tf.reshape(restored, tf.shape(whole))
        whole = tf.where(is_source[:, None], whole, found.text[:, None])
        owners = tf.gather(found.owner, owners)
        return (
            sentences.join(found, whole, num_texts, self._joiner),
            tf.math.unsorted_segment_sum(scores, owners, num_texts),
            tf.math.unsorted_segment_sum(tf.cast(is_uncertain, tf.int32), owners, num_texts) > 0,
        )

    def _search_parts(
        self, parts: tf.RaggedTensor, num_best: tf.Tensor, scored: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Translations and scores, both `(parts, N)`, and `is_uncertain (parts,)`.

        Parts of similar length are searched together.
        """
        order = tf.argsort(parts.row_lengths(), stable=True)
        ordered = tf.gather(parts, order)

        def search(source_ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            found = self._search_ids(source_ids, num_best, scored)
            flat = tf.reshape(found.tokens, [tf.size(found.scores), tf.shape(found.tokens)[2]])
            texts = self.target.detokenize(_without_padding(flat))
            translations = tf.reshape(texts, tf.shape(found.scores))
            return translations, found.scores, self._is_uncertain(source_ids, found)

        nothing = (
            tf.zeros([0, num_best], tf.string),
            tf.zeros([0, num_best]),
            tf.zeros([0], tf.bool),
        )
        outputs = [tf.TensorSpec(part.shape[1:], part.dtype) for part in nothing]

        def search_more(done: tf.Tensor, *found: tf.Tensor):
            source_ids = _with_end(ordered[done : done + ROWS_AT_ONCE])
            new = in_shards(search, source_ids, self.num_shards, outputs)
            longer = (tf.concat(parts, axis=0) for parts in zip(found, new, strict=True))
            return done + ROWS_AT_ONCE, *longer

        _, *found = tf.while_loop(
            lambda done, *found: done < tf.size(order),
            search_more,
            (tf.constant(0), *nothing),
            shape_invariants=(
                tf.TensorShape([]),
                *(tf.TensorShape([None, *spec.shape]) for spec in outputs),
            ),
        )
        as_given = tf.argsort(order)
        translations, scores, is_uncertain = (tf.gather(part, as_given) for part in found)
        return translations, scores, is_uncertain

    def _is_uncertain(self, source_ids: tf.Tensor, found: Hypotheses) -> tf.Tensor:
        """Whether the model is unsure of the best hypothesis of each row, boolean `(B,)`."""
        num_generated = num_tokens(found.tokens[:, 0]) + 1  # with EOS
        log_probability = found.scores[:, 0] * self._length_penalty(num_generated)
        mean = log_probability / tf.cast(num_generated, tf.float32)
        # A character without a piece of its own was hardly seen in training.
        is_rare = tf.gather(tf.constant(self.source.is_rare), source_ids)
        return (mean < UNCERTAIN_BELOW) | tf.reduce_any(is_rare, axis=1)


def _no_terms() -> tuple[tf.Tensor, tf.Tensor]:
    """Terms of a glossary without terms, and their translations."""
    return tf.zeros([0], tf.string), tf.zeros([0], tf.string)


def _with_end(pieces: tf.RaggedTensor) -> tf.Tensor:
    """Append EOS and pad: int32 `(B, S)`."""
    end = tf.fill([pieces.nrows(tf.int32), 1], EOS_ID)
    return tf.concat([pieces, end], axis=1).to_tensor(PAD_ID)


def _nothing_for_nothing(source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
    """Clear the target ids of sources without pieces before EOS."""
    return tf.where(num_tokens(source_ids)[:, None] > 1, target_ids, PAD_ID)


def _without_padding(ids: tf.Tensor) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_tensor(ids, padding=PAD_ID)

"""Signatures of the SavedModel, from strings to strings and numbers, entirely in the graph."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.languages import read_language
from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beam_search import LengthPenalty
from keras_attn.translation.decoding.beams import Hypotheses
from keras_attn.translation.decoding.constraints import NEG_INF, num_tokens
from keras_attn.translation.decoding.coverage import Coverage
from keras_attn.translation.decoding.parallel import in_shards
from keras_attn.translation.decoding.sampling import sample_translations
from keras_attn.translation.decoding.search import Search
from keras_attn.translation.export.explainer import Explainer
from keras_attn.translation.export.tags import Tags
from keras_attn.translation.lexicon import Lexicon
from keras_attn.translation.model import in_dtype
from keras_attn.translation.special_ids import EOS_ID, PAD_ID, PLACEHOLDER_IDS
from keras_attn.translation.text import placeholders, sentences
from keras_attn.translation.text.placeholders import PLACEHOLDERS
from keras_attn.translation.text.typed import usual_case_in_graph
from keras_attn.translation.tokenization import language_tokens
from keras_attn.translation.tokenization.in_graph import GraphTokenizer
from keras_attn.translation.tokenization.tokenizer import Tokenizers

# Maximum number of rows searched at once, so that memory does not grow with a request.
ROWS_AT_ONCE = 128
# Number of shards of a large batch where no program sets it. On a single core, two shards take a
# quarter longer than one (benchmarks/results/decode.md).
NUM_SHARDS = 2
# A translation is uncertain if its confidence is below 0: a weight for each column of its evidence,
# and a bias. Training calibrates them.
EVIDENCE = (
    "mean log probability",
    "target tokens for each source token",
    "coverage of the source",
    "explanation of the translation",
)
CONFIDENCE = (1.0, 0.0, 0.0, 0.0, 0.6)
MAX_RATIO = 2.0  # target tokens for each source token that count


Outputs = dict[str, tf.Tensor]  # of a signature, by name


class Source(NamedTuple):
    """Texts `(B,)` before they are tokenized."""

    text: tf.Tensor  # masked; empty where nothing is to be translated
    masked: tf.Tensor  # masked texts of all
    values: tf.Tensor  # value of each placeholder, strings (B, placeholders)
    is_translated: tf.Tensor  # whether there is something to translate
    as_given: tf.Tensor  # what the other texts become: themselves, or their values


class Signatures:
    """Functions of a SavedModel. `translate` is `serving_default`, and `continue_` is `continue`.

    Single texts of up to `compiled_length` pieces are translated by compiled programs.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizers: Tokenizers,
        config: Config,
        lexicon: Lexicon | None = None,
    ):
        self._config = config
        self._joiner = read_language(config.target).joiner
        self._length_penalty = LengthPenalty.of(config)
        # The tokenizers of imported models have language tokens, and no placeholders.
        self._is_imported = tokenizers.source.is_imported
        placeholder_ids = () if self._is_imported else PLACEHOLDER_IDS
        self.model = in_dtype(model, config.serving_precision)
        self.target = GraphTokenizer(tokenizers.target.proto)
        scores = self.target.scores
        self._search_ids = Search(self.model, config, placeholder_ids, lexicon, scores)
        self._coverage = self._search_ids.coverage
        # Greedy search has no coverage, but the lexicon tells where tags belong.
        words = self._coverage or (Coverage(lexicon, 0.0) if lexicon else None)
        self._words = [] if words is None else words.variables
        # A program that loads the SavedModel may change this number and the number of shards.
        self.compiled_length = self._search_ids.compiled_length
        self.source = GraphTokenizer(tokenizers.source.proto, self.compiled_length)
        self._tags = Tags(self.source, self.target, words, self._joiner)
        self._explain = Explainer(self.model, config, self.source, self.target, placeholder_ids)
        self.num_shards = tf.Variable(NUM_SHARDS, trainable=False, name="num_shards")
        self.confidence = tf.Variable(CONFIDENCE, trainable=False, name="confidence")
        # `tf.function`, so that the signatures of a SavedModel share these graphs.
        graph = partial(tf.function, autograph=False)
        strings, values = (tf.TensorSpec([None] * rank, tf.string) for rank in (1, 2))
        number, boolean = (tf.TensorSpec([], dtype) for dtype in (tf.int32, tf.bool))
        terms = [strings, strings]
        self._mask_texts = graph(self._mask, input_signature=[strings, *terms])
        self._unmask_texts = graph(self._unmask, input_signature=[strings, values, strings])
        self.search = graph(self._search, input_signature=[strings, *terms, number, boolean])

    @property
    def tables(self) -> list[tf.Variable]:
        """Variables that are neither weights of the model nor settings."""
        tables = self.source.variables + self.target.variables + self._search_ids.tables
        return tables if self._coverage else tables + self._words

    def translate(self, text: tf.Tensor) -> Outputs:
        """Best translation of each text; signature `serving_default`."""
        return self.glossary(text, *_no_terms())

    def glossary(self, text: tf.Tensor, term: tf.Tensor, term_translation: tf.Tensor) -> Outputs:
        """Best translation of each text, with given translations of the terms `(G,)`."""
        found = self.search(text, term, term_translation, 1, False)
        return {"translation": found["translations"][:, 0]}

    def nbest(self, text: tf.Tensor) -> Outputs:
        """Outputs of `search` for each text, with `beam_size` translations."""
        found = self.search(text, *_no_terms(), self._config.beam_size, True)
        for name in ("translations", "scores"):
            found[name] = tf.ensure_shape(found[name], [None, self._config.beam_size])
        return found

    def compile(self, length: tf.Tensor) -> Outputs:
        """Compile the programs for a single text of up to `length` pieces, one of `LENGTHS`."""
        with tf.control_dependencies([self.source.compile(length)]):
            return {"score": self._search_ids.compile(length)}

    def sample(
        self,
        text: tf.Tensor,
        seed: tf.Tensor,
        temperature: tf.Tensor,
        top_k: tf.Tensor,
        top_p: tf.Tensor,
    ) -> Outputs:
        """Sampled translation of each text; text is truncated to `max_length`."""
        source, source_ids = self._read(text)
        memory = self._search_ids.encode(source_ids)
        settings = self._config, seed, temperature, top_k, top_p
        tokens = sample_translations(self.model, memory, *settings)
        return {"translation": self._write(tokens, source)}

    def score(self, text: tf.Tensor, translation: tf.Tensor) -> Outputs:
        """Log probability of each translation; both sides are truncated to `max_length`."""
        return {"log_probability": self._explain.log_probabilities(*self._pairs(text, translation))}

    def attend(self, text: tf.Tensor) -> Outputs:
        """Translation of each text with the outputs of `Explainer`; text is truncated."""
        return self.continue_(text)

    def continue_(self, text: tf.Tensor, prefix_pieces: tf.Tensor | None = None) -> Outputs:
        """Outputs of `attend` for the best translation that begins with given target pieces.

        `prefix_pieces (B, P)` are pieces as `attend` gives them, padded with empty strings. The
        translation is empty where the rules of the search forbid the prefix, or where a piece is
        not in the vocabulary.
        """
        source, source_ids = self._read(text)
        is_free = prefix_pieces is None
        prefix = () if is_free else (self._explain.prefix_ids(prefix_pieces, source.values),)
        tokens, scores = self._search_ids.best(source_ids, *prefix)
        tokens = tf.where(source.is_translated[:, None], tokens, PAD_ID)
        translation = tf.where(tf.math.is_inf(scores), "", self._write(tokens, source))
        target_ids = _with_end(_without_padding(tokens))
        described = self._explain.describe(source_ids, target_ids, source.values)
        return {"translation": translation, **described}

    def head(
        self, text: tf.Tensor, target_pieces: tf.Tensor, layer: tf.Tensor, head: tf.Tensor
    ) -> Outputs:
        """Queries, keys and values of one cross-attention head of each text.

        `target_pieces (B, T)` are those of `attend`; `layer (B,)` and `head (B,)` count from 0.
        """
        source, source_ids = self._read(text)
        target_ids = self._explain.prefix_ids(target_pieces, source.values)
        return self._explain.head(source_ids, target_ids, tf.stack([layer, head], axis=1))

    def _mask(
        self, text: tf.Tensor, term: tf.Tensor, term_translation: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Masked texts, and the value of each placeholder (`placeholders.mask`)."""
        if self._is_imported:
            return text, tf.fill([tf.size(text), len(PLACEHOLDERS)], "")
        config = self._config
        text = usual_case_in_graph(text, config.source)
        return placeholders.mask(text, config.source, config.target, term, term_translation)

    def _unmask(
        self, translation: tf.Tensor, values: tf.Tensor, masked: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Translations with values in place of placeholders (`placeholders.unmask`)."""
        if self._is_imported:
            return translation, tf.zeros(tf.shape(translation), tf.bool)
        return placeholders.unmask(translation, values, masked, self._config.target)

    def _source(self, text: tf.Tensor, *terms: tf.Tensor) -> Source:
        """Mask texts, of which those without a word of the source language are not translated."""
        is_source = sentences.is_in_language(text, self._config.source)
        masked, values = self._mask_texts(tf.where(is_source, text, ""), *terms)
        has_words = sentences.has_words(masked)
        copied, _ = self._unmask_texts(placeholders.without_marks(masked), values, masked)
        to_translate = tf.where(has_words, self._tags.removed(masked, values), "")
        as_given = tf.where(is_source, copied, text)
        return Source(to_translate, masked, values, has_words, as_given)

    def _language(self, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Language token of each text, the default for those without one, and the other text."""
        if not self._is_imported:
            return tf.fill(tf.shape(text), ""), text
        token, text = language_tokens.split_in_graph(text)
        return tf.where(token == "", self._config.language_token, token), text

    def _read(self, text: tf.Tensor) -> tuple[Source, tf.Tensor]:
        """Truncated texts, and their source ids `(B, S)`."""
        token, text = self._language(text)
        source = self._source(text, *_no_terms())
        return source, self._ids(self.source, tf.strings.join([token, source.text]))

    def _pairs(self, text: tf.Tensor, translation: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Source ids `(B, S)` and target ids `(B, T)` of truncated texts and translations."""
        source, source_ids = self._read(text)
        masked = placeholders.mask_translations(translation, source.values)
        return source_ids, self._ids(self.target, self._tags.removed(masked, source.values))

    def _write(self, tokens: tf.Tensor, source: Source) -> tf.Tensor:
        """Text of target ids `(B, T)`, with values in place of placeholders."""
        texts = self.target.detokenize(_without_padding(tokens))
        texts = self._tags.put(source.masked, source.values, texts[:, None])[:, 0]
        whole, _ = self._unmask_texts(texts, source.values, source.masked)
        return tf.where(source.is_translated, whole, source.as_given)

    def _ids(self, tokenizer: GraphTokenizer, text: tf.Tensor) -> tf.Tensor:
        return _with_end(tokenizer.tokenize(text)[:, : self._config.max_length - 1])

    def _search(
        self,
        text: tf.Tensor,
        term: tf.Tensor,
        term_translation: tf.Tensor,
        num_best: tf.Tensor,
        scored: tf.Tensor,
    ) -> Outputs:
        """Translations of texts of any length and their scores, both `(B, num_best)`, best first.

        The n-th translation of a text joins the n-th of its sentences, and its score is the sum of
        theirs. `is_uncertain (B,)` marks texts with a translation of low probability or characters
        that training hardly saw, `is_other_language (B,)` those with words but no letter of the
        source language, which are returned as given. Without `scored`, scores and `is_uncertain`
        have no meaning (`BeamSearch`).
        """
        # Bytes that are not text become U+FFFD, also where text is returned as given.
        text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="replace")
        token, text = self._language(text)
        found = sentences.split(text)
        source = self._source(found.text, term, term_translation)
        # An imported model needs room for a language token.
        limit = max(self._config.max_length - (2 if self._is_imported else 1), 1)
        parts, owners = sentences.parts(self.source.tokenize(source.text), limit)
        if self._is_imported:
            of_part = tf.gather(tf.gather(token, found.owner), owners)
            parts = tf.concat([self.source.language_ids(of_part), parts], axis=1)
        translations, scores, is_uncertain = self._search_parts(parts, num_best, scored)
        num_texts = tf.size(text)
        labels = sentences.labels(self._config.source, self._config.target)
        whole = tf.strings.unsorted_segment_join(
            translations, owners, tf.size(source.text), separator=self._joiner
        )
        whole, is_incomplete = self._whole(whole, source)

        def any_of_text(flags: tf.Tensor, owners: tf.Tensor) -> tf.Tensor:
            return tf.math.unsorted_segment_sum(tf.cast(flags, tf.int32), owners, num_texts) > 0

        is_source = sentences.is_in_language(found.text, self._config.source)
        is_other = any_of_text(sentences.has_words(found.text) & ~is_source, found.owner)
        is_other &= ~any_of_text(source.is_translated, found.owner)
        owners = tf.gather(found.owner, owners)
        scores = tf.math.unsorted_segment_sum(scores, owners, num_texts)
        is_missing = is_other[:, None] & (tf.range(num_best) > 0)
        is_uncertain = any_of_text(is_uncertain, owners) | any_of_text(is_incomplete, found.owner)
        return {
            "translations": sentences.join(found, whole, num_texts, self._joiner, labels),
            "scores": tf.where(is_missing, NEG_INF, scores),
            "is_uncertain": is_uncertain,
            "is_other_language": is_other,
        }

    def _whole(self, translations: tf.Tensor, source: Source) -> tuple[tf.Tensor, tf.Tensor]:
        """Translations `(B, N)` of sentences with their values, and whether the best lacks one."""
        translations = self._tags.put(source.masked, source.values, translations)
        flat, number = tf.reshape(translations, [-1]), tf.shape(translations)[1]
        values, masked = (tf.repeat(of, number, axis=0) for of in (source.values, source.masked))
        unmasked = self._unmask_texts(flat, values, masked)
        whole, is_incomplete = (tf.reshape(of, tf.shape(translations)) for of in unmasked)
        whole = tf.where(source.is_translated[:, None], whole, source.as_given[:, None])
        return whole, is_incomplete[:, 0] & source.is_translated

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
            texts = tf.reshape(texts, tf.shape(found.scores))
            is_uncertain = tf.cond(
                scored,
                lambda: self._is_uncertain(source_ids, found),
                lambda: tf.zeros([tf.shape(source_ids)[0]], tf.bool),
            )
            return texts, found.scores, is_uncertain

        empty = tf.zeros([0, num_best], tf.string), tf.zeros([0, num_best]), tf.zeros([0], tf.bool)
        outputs = [tf.TensorSpec(part.shape[1:], part.dtype) for part in empty]

        def search_more(done: tf.Tensor, *found: tf.Tensor):
            source_ids = _with_end(ordered[done : done + ROWS_AT_ONCE])
            new = in_shards(search, source_ids, self.num_shards, outputs)
            longer = (tf.concat(both, axis=0) for both in zip(found, new, strict=True))
            return done + ROWS_AT_ONCE, *longer

        _, *found = tf.while_loop(
            lambda done, *found: done < tf.size(order),
            search_more,
            (tf.constant(0), *empty),
            shape_invariants=(
                tf.TensorShape([]),
                *(tf.TensorShape([None, *spec.shape]) for spec in outputs),
            ),
        )
        return tuple(tf.gather(part, tf.argsort(order)) for part in found)

    def _is_uncertain(self, source_ids: tf.Tensor, found: Hypotheses) -> tf.Tensor:
        """Whether the model is unsure of the best hypothesis of each row, boolean `(B,)`."""
        confidence = tf.linalg.matvec(self._evidence(source_ids, found), self.confidence[:-1])
        # A character without a piece of its own was hardly seen in training.
        is_rare = tf.gather(tf.constant(self.source.is_rare), source_ids)
        return (confidence + self.confidence[-1] < 0) | tf.reduce_any(is_rare, axis=1)

    def _evidence(self, source_ids: tf.Tensor, found: Hypotheses) -> tf.Tensor:
        """`EVIDENCE` of each best hypothesis, float32 `(B, 4)`.

        Tokens count EOS. Without a lexicon, coverage and explanation are 0. Most wrong translations
        leave something out, or put in what the source does not have.
        """
        best, num_generated = found.tokens[:, :1], num_tokens(found.tokens[:, 0]) + 1
        scores = found.scores[:, 0]
        coverage = explained = tf.zeros_like(scores)
        if self._coverage is not None:
            coverage = self._coverage(source_ids, best)[:, 0]
            explained = self._coverage.explained(source_ids, best)[:, 0]
            scores -= self._coverage.weight * coverage
        mean = scores * self._length_penalty(num_generated) / tf.cast(num_generated, tf.float32)
        ratio = tf.cast(num_generated / num_tokens(source_ids), tf.float32)
        return tf.stack([mean, tf.minimum(ratio, MAX_RATIO), coverage, explained], axis=1)

    def fit_shortlist(self, texts: Sequence[str], translations: Sequence[str]) -> None:
        """Fit the shortlist of the search, if there is one, to translations (`Shortlist.fit`)."""
        if self._search_ids.shortlist is None:
            return

        def batches() -> Iterator[tuple[tf.Tensor, tf.Tensor]]:
            for start in range(0, len(texts), ROWS_AT_ONCE):
                part = slice(start, start + ROWS_AT_ONCE)
                yield self._pairs(tf.constant(texts[part]), tf.constant(translations[part]))

        self._search_ids.shortlist.fit(self.model, batches())

    def translate_with_evidence(self, texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Translations of sentences, and their evidence `(B, 4)`, for a calibration."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        translations = [""] * len(texts)
        evidence = np.zeros([len(texts), len(EVIDENCE)], np.float32)
        for start in range(0, len(texts), ROWS_AT_ONCE):
            rows = order[start : start + ROWS_AT_ONCE]
            source, source_ids = self._read(tf.constant([texts[i] for i in rows]))
            found = self._search_ids(source_ids)
            evidence[rows] = self._evidence(source_ids, found)
            for i, text in zip(rows, self._write(found.tokens[:, 0], source).numpy(), strict=True):
                translations[i] = text.decode()
        return translations, evidence


def _no_terms() -> tuple[tf.Tensor, tf.Tensor]:
    """Terms of a glossary without terms, and their translations."""
    return tf.zeros([0], tf.string), tf.zeros([0], tf.string)


def _with_end(pieces: tf.RaggedTensor) -> tf.Tensor:
    """Append EOS and pad: int32 `(B, S)`."""
    end = tf.fill([pieces.nrows(tf.int32), 1], EOS_ID)
    return tf.concat([pieces, end], axis=1).to_tensor(PAD_ID)


def _without_padding(ids: tf.Tensor) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_tensor(ids, padding=PAD_ID)

"""Configuration of an imported Marian model."""

from typing import Any

from keras_attn.translation.config import Config

# Activations by their names in transformers.
_ACTIVATIONS = {"relu": "relu", "swish": "silu", "silu": "silu", "gelu": "gelu"}
# Defaults of transformers for files that lack an entry. The last two are entries of `npz.read`
# alone.
_DEFAULTS: dict[str, Any] = {
    "activation_function": "gelu",
    "scale_embedding": False,
    "dropout": 0.1,
    "max_position_embeddings": 1024,
    "share_encoder_decoder_embeddings": True,
    "tie_word_embeddings": True,
    "num_beams": 1,
    "length_penalty": 1.0,
    "early_stopping": False,
    "max_length": 20,
    "no_repeat_ngram_size": 0,
    "renormalize_logits": False,
    "norm_epsilon": 1e-5,  # of `torch.nn.LayerNorm`
    "max_length_ratio": 0.0,
}
_SEARCHES = {False: "heuristic", True: "full", "never": "exact"}
# Values of the form of the OPUS-MT models; None stands for no entry.
_FORM: dict[str, tuple[Any, ...]] = {
    "model_type": ("marian",),
    "activation_function": tuple(_ACTIVATIONS),
    "scale_embedding": (True,),
    "normalize_before": (None, False),
    "normalize_embedding": (None, False),
    "add_final_layer_norm": (None, False),
    "early_stopping": tuple(_SEARCHES),
    "num_beam_groups": (None, 0, 1),
    "repetition_penalty": (None, 0, 1),
}
_NEEDED = (
    *("vocab_size", "d_model", "pad_token_id", "eos_token_id"),
    *("encoder_layers", "encoder_attention_heads", "encoder_ffn_dim"),
    *("decoder_layers", "decoder_attention_heads", "decoder_ffn_dim"),
)


class MarianConfig(dict[str, Any]):
    """Entries of `config.json` and `generation_config.json`, the second before the first."""

    def __init__(self, config: dict[str, Any], generation: dict[str, Any]):
        super().__init__(_DEFAULTS)
        for entries in (config, generation):
            self |= {name: value for name, value in entries.items() if value is not None}
        self._check()
        # Whether source and target have one vocabulary and one embedding.
        self.is_shared = bool(self["share_encoder_decoder_embeddings"])
        # Ids that no translation has.
        self.banned_ids = [ids[0] for ids in self.get("bad_words_ids") or []]

    def _check(self) -> None:
        form = {
            **_FORM,
            "decoder_attention_heads": (self.get("encoder_attention_heads"),),
            "decoder_ffn_dim": (self.get("encoder_ffn_dim"),),
            "decoder_start_token_id": (None, self.get("pad_token_id")),
        }
        wrong = [name for name in _NEEDED if name not in self]
        wrong += [name for name, allowed in form.items() if self.get(name) not in allowed]
        if any(len(ids) != 1 for ids in self.get("bad_words_ids") or []):
            wrong.append("bad_words_ids")
        if not isinstance(self.get("eos_token_id", 0), int):
            wrong.append("eos_token_id")
        if wrong:
            found = [f"{name}={self.get(name)!r}" for name in wrong]
            raise ValueError(
                "`config.json` has options that an imported model cannot have: it must have the "
                "form of the OPUS-MT models, with relu, swish or gelu, scaled embeddings, equal "
                "widths of encoder and decoder, and the padding token as the start of the decoder. "
                f"Received: {', '.join(found)}."
            )


def to_config(marian: MarianConfig, unknown_id: int, **given: str) -> Config:
    """Configuration of the imported model; `unknown_id` is an id of the target vocabulary.

    The languages, the language token and the precision are `given`.
    """
    longest = min(marian["max_length"], marian["max_position_embeddings"])
    ratio = marian["max_length_ratio"]
    return Config(
        data="",
        vocab_size=marian["vocab_size"],
        shared_vocab=marian.is_shared,
        max_length=marian["max_position_embeddings"],
        num_encoder_layers=marian["encoder_layers"],
        num_decoder_layers=marian["decoder_layers"],
        num_hiddens=marian["d_model"],
        ffn_num_hiddens=marian["encoder_ffn_dim"],
        num_heads=marian["encoder_attention_heads"],
        position="sinusoidal_halves",
        norm_epsilon=marian["norm_epsilon"],
        norm_first=False,
        activation=_ACTIVATIONS[marian["activation_function"]],
        use_bias=True,
        tie_embeddings=bool(marian["tie_word_embeddings"]),
        logits_bias=bool(marian["tie_word_embeddings"]),
        share_embeddings=marian.is_shared,
        dropout=marian["dropout"],
        beam_size=marian["num_beams"],
        length_penalty=float(marian["length_penalty"]),
        length_penalty_offset=0.0,
        early_stopping=_SEARCHES[marian["early_stopping"]],
        forced_eos=marian.get("forced_eos_token_id") == marian["eos_token_id"],
        allow_unk=unknown_id not in marian.banned_ids,
        allow_empty=True,
        max_length_ratio=ratio,
        # `max_length` counts the start and the end too.
        max_length_extra=0 if ratio else max(longest - 2, 1),
        no_repeat_ngram=marian["no_repeat_ngram_size"],
        **given,  # type: ignore[arg-type]
    )

import pytest

from keras_attn.translation.importing.configuration import MarianConfig, to_config


@pytest.fixture
def configured(tiny_files):
    config, search, _ = tiny_files

    def configured(generation=None, **changes):
        settings = MarianConfig({**config, **changes}, {**search, **(generation or {})})
        return to_config(settings, 1, source="ja", target="en")

    return configured


def test_sizes_are_those_of_the_file(configured):
    config = configured()
    config.validate()
    sizes = (config.num_encoder_layers, config.num_decoder_layers, config.num_heads)
    assert sizes == (2, 1, 2)
    assert (config.num_hiddens, config.ffn_num_hiddens, config.max_length) == (16, 24, 128)
    assert config.activation == "silu" and config.norm_epsilon == 1e-5
    assert config.share_embeddings and config.tie_embeddings and config.logits_bias
    assert (config.source, config.target) == ("ja", "en")


def test_search_is_that_of_the_files(configured, tiny_files):
    config = configured()
    assert (config.beam_size, config.length_penalty, config.length_penalty_offset) == (4, 1.0, 0.0)
    assert config.max_length_extra == 14  # without start and end
    assert (config.early_stopping, config.forced_eos) == ("heuristic", True)
    assert config.allow_unk
    other = {"early_stopping": True, "length_penalty": 0.6, "num_beams": 6, "max_length": 512}
    config = configured({**other, "bad_words_ids": [[98], [1]], "no_repeat_ngram_size": 3})
    assert (config.beam_size, config.length_penalty, config.early_stopping) == (6, 0.6, "full")
    assert config.max_length_extra == 126  # as many as there are positions
    assert not config.allow_unk and config.no_repeat_ngram == 3
    never = configured({"early_stopping": "never"}, forced_eos_token_id=None)
    assert never.early_stopping == "exact"
    # Older models have it in their configuration.
    older = {**tiny_files[0], "num_beams": 5, "max_length": 30}
    found = to_config(MarianConfig(older, {}), 1, source="ja", target="en")
    assert (found.beam_size, found.max_length_extra) == (5, 28)


def test_options_of_other_models_are_refused(configured):
    for changes, reason in (
        ({"model_type": "bart"}, "form of the OPUS-MT models.* Received: model_type='bart'"),
        ({"activation_function": "mish"}, "activation_function='mish'"),
        ({"scale_embedding": False}, "scale_embedding=False"),
        ({"decoder_attention_heads": 4}, "decoder_attention_heads=4"),
        ({"decoder_ffn_dim": 4}, "decoder_ffn_dim=4"),
        ({"normalize_before": True}, "normalize_before=True"),
        ({"d_model": None}, "Received: d_model=None"),
    ):
        with pytest.raises(ValueError, match=f"`config.json` .*{reason}"):
            configured(**changes)


def test_searches_of_other_kinds_are_refused(configured):
    search = {"bad_words_ids": [[3, 4]], "early_stopping": "soon", "repetition_penalty": 1.2}
    for name, value in {**search, "decoder_start_token_id": 5, "eos_token_id": [0, 1]}.items():
        with pytest.raises(ValueError, match=f"Received: {name}="):
            configured({name: value})

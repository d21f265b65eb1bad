import numpy as np
import pytest
from keras import ops

from keras_attn import Decoder, DecoderBlock, RotaryEmbedding, TokenEmbedding

B, T, S, D, V = 2, 6, 5, 6, 13


@pytest.fixture(scope="module")
def decoder():
    return Decoder(vocab_size=V, num_layers=2, num_hiddens=D, ffn_num_hiddens=7, num_heads=3)


@pytest.fixture
def inputs():
    random = np.random.default_rng(1)
    ids = random.integers(1, V, (B, T))
    return ids, random.normal(size=(B, S, 4)).astype(np.float32)


def test_logits_of_the_past_ignore_the_future_in_value_and_gradient(decoder, inputs, gradients):
    ids, memory = inputs
    logits = ops.convert_to_numpy(decoder(ids, memory))
    changed = ids.copy()
    changed[:, 4] = changed[:, 4] % (V - 1) + 1
    after = ops.convert_to_numpy(decoder(changed, memory))
    np.testing.assert_allclose(after[:, :4], logits[:, :4], atol=1e-6)
    assert not np.allclose(after[:, 4], logits[:, 4])

    block = DecoderBlock(D, 7, 3, cross_attention=False)
    x = np.random.default_rng(2).normal(size=(1, T, D)).astype(np.float32)
    block(x)
    gradient = gradients(lambda x: ops.sum(block(x)[:, :3] ** 2), x)[0][0]
    assert (gradient[3:] == 0).all() and (np.abs(gradient[:3]).max(-1) > 0).all()


def test_memory_behind_its_length_does_not_matter(decoder, inputs):
    ids, memory = inputs
    expected = decoder(ids, memory, memory_valid_lens=[3, 1])
    memory = memory.copy()
    memory[0, 3:] = memory[1, 1:] = np.nan
    np.testing.assert_allclose(decoder(ids, memory, memory_valid_lens=[3, 1]), expected, atol=1e-6)
    mask = np.arange(S) < np.array([[3], [1]])
    np.testing.assert_allclose(decoder(ids, memory, memory_mask=mask), expected, atol=1e-6)


def test_compiled_steps_with_cache_equal_the_whole_sequence(decoder, inputs, compiled):
    ids, memory = inputs
    mask = np.arange(S) < np.array([[3], [5]])
    whole = decoder(ids, memory, memory_mask=mask)
    step = compiled(
        lambda column, start, cache: decoder(column, cache=cache, start=start, memory_mask=mask)
    )
    cache = decoder.make_cache(B, T, memory)
    for t in range(T):
        column, start = ops.convert_to_tensor(ids[:, t : t + 1]), ops.convert_to_tensor(t)
        logits, cache = step(column, start, cache)
        np.testing.assert_allclose(logits[:, 0], whole[:, t], atol=1e-5)


@pytest.mark.parametrize("position", ["sinusoidal", RotaryEmbedding()], ids=["added", "rotary"])
def test_several_hypotheses_of_a_sentence_share_a_cache(position):
    length = 4
    model = Decoder(V, 2, 6, 7, 1, cross_attention=False, position=position)
    ids = np.random.default_rng(2).integers(1, V, (B, 3, length))  # three hypotheses
    expected = np.stack([ops.convert_to_numpy(model(ids[:, n])) for n in range(3)], axis=1)
    cache = model.make_cache(B, 3 * length)
    slots = np.arange(3 * length)
    for t in range(length):
        own = (slots % 3 == np.arange(3)[:, None]) & (slots // 3 <= t)  # (3, 3 T)
        logits, cache = model(
            ids[:, :, t], cache=cache, start=3 * t, positions=np.full(3, t), attention_mask=own
        )
        np.testing.assert_allclose(ops.convert_to_numpy(logits), expected[:, :, t], atol=1e-5)


@pytest.mark.parametrize(
    "options", [{}, {"logits_use_bias": False}, {"tie_embeddings": True, "logits_use_bias": True}]
)
def test_states_and_output_projection_give_the_logits_of_some_tokens(options):
    decoder = Decoder(11, 2, 12, 16, 3, **options)
    with pytest.raises(ValueError, match="before `states`.*built=False"):
        decoder.states(np.array([[3, 5]]))
    random = np.random.default_rng(4)
    ids, memory = np.array([[3, 5, 7], [2, 9, 0]]), random.normal(size=(2, 4, 12))
    mask = np.array([[True, True, False, True], [True, False, True, True]])
    plain = ops.convert_to_numpy(decoder(ids, memory, memory_mask=mask))
    for bias in (weight for weight in decoder.weights if weight.name == "logits_bias"):
        bias.assign(np.arange(11.0))
    logits = ops.convert_to_numpy(decoder(ids, memory, memory_mask=mask))
    difference = np.arange(11.0) if "tie_embeddings" in options else 0
    np.testing.assert_allclose(logits - plain, np.broadcast_to(difference, (2, 3, 11)), atol=1e-5)
    states = ops.convert_to_numpy(decoder.states(ids, memory, memory_mask=mask))
    for token_ids in (None, np.array([7, 2, 2])):
        kernel, bias = map(ops.convert_to_numpy, decoder.output_projection(token_ids))
        expected = logits if token_ids is None else logits[..., token_ids]
        np.testing.assert_allclose(states @ kernel + bias, expected, atol=1e-5)
    (decoder.embedding.tokens if decoder.tie_embeddings else decoder._logits_dense).quantize("int8")
    with pytest.raises(ValueError, match="not quantized"):
        decoder.output_projection()


def test_settings_that_need_another_are_refused_without_it():
    decoder = Decoder(11, 1, 12, 16, 3, share_embeddings=True)
    with pytest.raises(ValueError, match="must be part of a `Transformer`.*call of"):
        decoder(np.array([[3, 5, 7]]), np.ones((1, 4, 12), np.float32))
    with pytest.raises(ValueError, match=r"must have the sizes of the decoder.*\(9, 12\)"):
        decoder.use_embedding(TokenEmbedding(9, 12))


def test_a_mask_that_is_given_replaces_padding_of_ids_and_logits(decoder, inputs):
    ids, memory = inputs
    ids[0, 2] = 0
    causal = np.tril(np.ones((T, T), bool))
    hidden = decoder(ids, memory)
    shown = decoder(ids, memory, attention_mask=causal)
    embedding = decoder.embedding
    states = ops.convert_to_tensor(ops.convert_to_numpy(embedding(ids)))  # without a mask
    for block in decoder.blocks:
        states = block(states, memory)
    expected = decoder._logits_dense(decoder._norm(states))
    np.testing.assert_allclose(shown, expected, atol=1e-5)
    assert np.abs(shown - ops.convert_to_numpy(hidden))[0, 2:].max() > 1e-3
    assert ops.convert_to_numpy(shown._keras_mask).all()
    assert not ops.convert_to_numpy(hidden._keras_mask)[0, 2]

    cache = decoder.make_cache(B, T, memory)
    for t in range(T):
        step, cache = decoder(
            ids[:, t : t + 1], cache=cache, start=t, attention_mask=causal[None, t : t + 1]
        )
        np.testing.assert_allclose(step[:, 0], ops.convert_to_numpy(shown)[:, t], atol=1e-5)

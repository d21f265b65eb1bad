"""Published Transformers with copied weights have the logits of `transformers`, by steps too."""

import itertools
import re
from pathlib import Path

import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import (
    Decoder,
    DecoderBlock,
    Encoder,
    EncoderBlock,
    LearnedPositionalEncoding,
    MultiHeadAttention,
    RotaryEmbedding,
    T5RelativeBias,
    Transformer,
)

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow
V, D, F, H, LAYERS, LENGTH = 23, 16, 24, 4, 2, 9
SHAPE = V, LAYERS, D, F, H
IDS = np.random.default_rng(0).integers(0, V, (2, LENGTH))  # 0 is an id as any other
PAGE = Path(__file__).parents[2] / "docs/how_to/weights_from_elsewhere.md"
CODE = {}
exec(re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1], CODE)
copy_weights, LLAMA = CODE["copy_weights"], CODE["LLAMA"]


def gelu_tanh(x):
    return keras.activations.gelu(x, approximate=True)


def random_weights(model):
    """Weights by name, none of them 0 or 1."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn_like(parameter) + 0.1)
    model.eval()
    return {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}


def values(x):
    return ops.convert_to_numpy(ops.stop_gradient(x))


def assert_logits(decoder, expected, ids=IDS, memory=None):
    """Logits of whole sequences and of steps."""
    given = {} if memory is None else {"memory": memory}
    np.testing.assert_allclose(values(decoder(ids, **given)), expected, atol=1e-4)
    cache = decoder.make_cache(2, LENGTH, *given.values())
    for t in range(LENGTH):
        step, cache = decoder(ids[:, t : t + 1], cache=cache, start=t)
        np.testing.assert_allclose(values(step)[:, 0], expected[:, t], atol=1e-4)


def logits_of(model, *inputs, **options):
    with torch.no_grad():
        return model(*map(torch.from_numpy, inputs), **options).logits.numpy()


def split_joint(state, names, by_head=True):
    """Add query, key and value as layers of their own, of a projection to all three."""
    for i, suffix in itertools.product(range(LAYERS), ("weight", "bias")):
        name = names.format(i=i)
        joint = state[f"{name}.{suffix}"]
        joint = joint.reshape(H, 3, D // H, -1) if by_head else joint.reshape(1, 3, D, -1)
        for part, one in enumerate(("query", "key", "value")):
            rows = joint[:, part].reshape(D, -1)
            state[f"{name}.{one}.{suffix}"] = rows if suffix == "weight" else rows[:, 0]


def norm_of(state, name, epsilon):
    layer = keras.layers.LayerNormalization(epsilon=epsilon)
    layer.build((None, None, D))
    layer.set_weights([state[f"{name}.{part}"] for part in ("weight", "bias")])
    return layer


def of_block(attention, network, norms, joint=None):
    """Names of the layers of a block, of those given in the order of the data."""
    if joint is not None:
        attention = (*(f"{joint}.{one}" for one in ("query", "key", "value")), *attention)
    ours = ("query", "key", "value", "output")
    return {
        **dict(zip((f"self_attention/{one}" for one in ours), attention, strict=True)),
        **dict(zip(("feed_forward/inner", "feed_forward/outer"), network, strict=True)),
        "around_self_attention/norm": norms[0],
        "around_feed_forward/norm": norms[1],
    }


def in_blocks(names, prefix):
    """Those names in every block of a stack."""
    return {f"block_{{i}}/{ours}": f"{prefix}.{{i}}.{theirs}" for ours, theirs in names.items()}


BIASES = {"use_bias": True, "padding_id": None, "scale_embeddings": False, "norm_epsilon": 1e-5}


def test_gpt2():
    config = transformers.GPT2Config(
        vocab_size=V, n_positions=LENGTH, n_embd=D, n_layer=LAYERS, n_head=H, n_inner=F
    )
    theirs = transformers.GPT2LMHeadModel(config)
    state = random_weights(theirs)
    # Its kernels are not transposed.
    state = {k: v.T if "c_" in k and v.ndim == 2 else v for k, v in state.items()}
    split_joint(state, "transformer.h.{i}.attn.c_attn", by_head=False)
    network = ["mlp.c_fc", "mlp.c_proj"]
    names = of_block(["attn.c_proj"], network, ["ln_1", "ln_2"], "attn.c_attn")
    names = in_blocks(names, "transformer.h") | {
        "embedding/tokens": "transformer.wte",
        "embedding/positions": "transformer.wpe",
        "norm": "transformer.ln_f",
    }
    decoder = Decoder(
        *SHAPE,
        cross_attention=False,
        tie_embeddings=True,
        position=LearnedPositionalEncoding(LENGTH, name="positions"),
        activation=gelu_tanh,
        **BIASES,
    )
    decoder.build((None, None))
    copy_weights(decoder, state, names)
    assert_logits(decoder, logits_of(theirs, IDS))


SIZES = {
    "hidden_size": D,
    "intermediate_size": F,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": H,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 40,
}
PLAIN = {"rope_type": "default", "rope_theta": 10000.0}
SCALED = RotaryEmbedding(layout="half", scaling="llama3", factor=8, original_max_len=40)
# Class, its configuration, and what our decoder takes besides.
LIKE_LLAMA = {
    "Llama": ({"rope_parameters": LLAMA3}, {"position": SCALED}),
    "Mistral": ({"sliding_window": 4, "rope_parameters": PLAIN}, {"window": 4}),
    "Qwen3": ({"head_dim": 6, "rope_parameters": PLAIN}, {"head_size": 6, "qk_norm": "rms"}),
    "Gemma": (
        {"head_dim": 6, "rope_parameters": PLAIN},
        {"head_size": 6, "activation": gelu_tanh, "scale_embeddings": True, "tie_embeddings": True},
    ),
}


@pytest.mark.parametrize("name", LIKE_LLAMA)
def test_llama_and_its_likes(name):
    settings, options = LIKE_LLAMA[name]
    settings |= {"num_key_value_heads": 2, "rms_norm_eps": 1e-6, "pad_token_id": None}
    config = getattr(transformers, f"{name}Config")(**SIZES, vocab_size=V, **settings)
    theirs = getattr(transformers, f"{name}ForCausalLM")(config)
    state = random_weights(theirs)
    if name == "Gemma":  # its scales are counted from 1
        state = {k: v + 1 if k.endswith("norm.weight") else v for k, v in state.items()}
    usual = {"position": RotaryEmbedding(layout="half"), "activation": "silu"}
    decoder = Decoder(
        *SHAPE,
        cross_attention=False,
        num_kv_heads=2,
        norm="rms",
        gated=True,
        ffn_use_bias=False,
        logits_use_bias=False,
        padding_id=None,
        **{"scale_embeddings": False, **usual, **options},
    )
    decoder.build((None, None))
    copy_weights(decoder, state, LLAMA)
    assert_logits(decoder, logits_of(theirs, IDS))


LIKE_NEOX = {
    "network": ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"],
    "norms": ["input_layernorm", "post_attention_layernorm"],
}


def test_gpt_neox():
    config = transformers.GPTNeoXConfig(
        **SIZES,
        vocab_size=V,
        use_parallel_residual=False,
        rope_parameters={**PLAIN, "partial_rotary_factor": 0.5},
    )
    theirs = transformers.GPTNeoXForCausalLM(config)
    state = random_weights(theirs)
    split_joint(state, "gpt_neox.layers.{i}.attention.query_key_value")
    names = of_block(["attention.dense"], joint="attention.query_key_value", **LIKE_NEOX)
    names = in_blocks(names, "gpt_neox.layers") | {
        "embedding/tokens": "gpt_neox.embed_in",
        "norm": "gpt_neox.final_layer_norm",
        "logits": "lm_head",
    }
    rotary = RotaryEmbedding(fraction=0.5, layout="half")
    options = {"activation": "gelu", "logits_use_bias": False, **BIASES}
    decoder = Decoder(*SHAPE, cross_attention=False, position=rotary, **options)
    decoder.build((None, None))
    copy_weights(decoder, state, names)
    assert_logits(decoder, logits_of(theirs, IDS))


def test_bloom():
    config = transformers.BloomConfig(
        vocab_size=V, hidden_size=D, n_layer=LAYERS, n_head=H, layer_norm_epsilon=1e-5
    )
    theirs = transformers.BloomForCausalLM(config)
    state = random_weights(theirs)
    split_joint(state, "transformer.h.{i}.self_attention.query_key_value")
    joint = "self_attention.query_key_value"
    names = of_block(["self_attention.dense"], joint=joint, **LIKE_NEOX)
    options = {"use_bias": True, "activation": gelu_tanh, "norm_epsilon": 1e-5}
    blocks = []
    for i in range(LAYERS):
        block = DecoderBlock(D, 4 * D, H, cross_attention=False, position="alibi", **options)
        block.build((None, None, D))
        copy_weights(block, state, {k: f"transformer.h.{i}.{v}" for k, v in names.items()})
        blocks.append(block)
    table = state["transformer.word_embeddings.weight"]
    x = norm_of(state, "transformer.word_embeddings_layernorm", 1e-5)(table[IDS])
    caches = [block.make_cache(2, LENGTH) for block in blocks]
    steps = []
    for t in range(LENGTH):
        row = x[:, t : t + 1]
        for i, block in enumerate(blocks):
            row, caches[i] = block(row, cache=caches[i], start=t)
        steps.append(row)
    for block in blocks:
        x = block(x)
    last = norm_of(state, "transformer.ln_f", 1e-5)
    for states in (x, ops.concatenate(steps, axis=1)):
        logits = values(last(states)) @ table.T
        np.testing.assert_allclose(logits, logits_of(theirs, IDS), atol=1e-4)


OF_ENCODER = {**SIZES, "layer_norm_eps": 1e-12}


def through_encoder_blocks(x, state, prefix, names, valid_lens=None, **options):
    """States after the blocks of BERT or ViT."""
    options |= {"use_bias": True, "activation": "gelu", "norm_epsilon": 1e-12}
    for i in range(LAYERS):
        block = EncoderBlock(D, F, H, **options)
        block.build(x.shape)
        copy_weights(block, state, {k: f"{prefix}.{i}.{v}" for k, v in names.items()})
        x = block(x, valid_lens=valid_lens)
    return x


def test_bert():
    config = transformers.BertConfig(**OF_ENCODER, vocab_size=V, max_position_embeddings=LENGTH)
    theirs = transformers.BertModel(config, add_pooling_layer=False)
    state = random_weights(theirs)
    names = of_block(
        attention=[
            *(f"attention.self.{one}" for one in ("query", "key", "value")),
            "attention.output.dense",
        ],
        network=["intermediate.dense", "output.dense"],
        norms=["attention.output.LayerNorm", "output.LayerNorm"],
    )
    lengths = [LENGTH, 5]
    mask = np.arange(LENGTH) < np.array(lengths)[:, None]
    with torch.no_grad():
        x = theirs.embeddings(torch.from_numpy(IDS)).numpy()
        expected = theirs(torch.from_numpy(IDS), torch.from_numpy(mask)).last_hidden_state.numpy()
    x = through_encoder_blocks(x, state, "encoder.layer", names, lengths, norm_first=False)
    np.testing.assert_allclose(values(x)[mask], expected[mask], atol=1e-4)


def test_vit():
    config = transformers.ViTConfig(**OF_ENCODER, image_size=8, patch_size=4)
    theirs = transformers.ViTModel(config, add_pooling_layer=False)
    state = random_weights(theirs)
    names = of_block(
        attention=[f"attention.{letter}_proj" for letter in "qkvo"],
        network=["mlp.fc1", "mlp.fc2"],
        norms=["layernorm_before", "layernorm_after"],
    )
    pixels = torch.from_numpy(np.random.default_rng(1).normal(size=(2, 3, 8, 8))).float()
    with torch.no_grad():
        x, expected = theirs.embeddings(pixels).numpy(), theirs(pixels).last_hidden_state.numpy()
    x = norm_of(state, "layernorm", 1e-12)(through_encoder_blocks(x, state, "layers", names))
    np.testing.assert_allclose(values(x), expected, atol=1e-4)


def names_of_t5(side):
    kinds = {"self_attention": "SelfAttention", "cross_attention": "EncDecAttention"}
    if side == "encoder":
        del kinds["cross_attention"]
    of = f"{side}.block.{{i}}.layer"
    names = {
        "embedding/tokens": "shared",
        # The only table is that of the first block.
        "block_{i}/self_attention/position": f"{side}.block.0.layer.0.SelfAttention.table",
        "block_{i}/feed_forward/inner": f"{of}.{len(kinds)}.DenseReluDense.wi",
        "block_{i}/feed_forward/outer": f"{of}.{len(kinds)}.DenseReluDense.wo",
        "norm": f"{side}.final_layer_norm",
        "logits": "lm_head",
    }
    for j, (kind, theirs) in enumerate(kinds.items()):
        for one in ("query", "key", "value", "output"):
            names[f"block_{{i}}/{kind}/{one}"] = f"{of}.{j}.{theirs}.{one[0]}"
    for j, kind in enumerate([*kinds, "feed_forward"]):
        names[f"block_{{i}}/around_{kind}/norm"] = f"{of}.{j}.layer_norm"
    return {f"{side}/{ours}": theirs for ours, theirs in names.items()}


def test_t5():
    config = transformers.T5Config(
        vocab_size=V,
        d_model=D,
        d_kv=6,
        d_ff=F,
        num_layers=LAYERS,
        num_heads=H,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=12,
        tie_word_embeddings=False,
        pad_token_id=0,
        decoder_start_token_id=0,
    )
    theirs = transformers.T5ForConditionalGeneration(config)
    state = random_weights(theirs)
    for name in list(state):
        if name.endswith("Attention.q.weight"):  # its scores are not divided
            state[name] = state[name] * 6**0.5
        if "relative_attention_bias" in name:
            state[name.replace("relative_attention_bias.weight", "table.bias")] = state[name]
    options = {
        "head_size": 6,
        "norm": "rms",
        "norm_epsilon": 1e-6,
        "ffn_use_bias": False,
        "scale_embeddings": False,
        "padding_id": None,
    }
    scheme = T5RelativeBias(8, 12, name="position")
    causal = T5RelativeBias(8, 12, bidirectional=False, name="position")
    model = Transformer(
        Encoder(*SHAPE, position=scheme, name="encoder", **options),
        Decoder(*SHAPE, position=causal, logits_use_bias=False, name="decoder", **options),
    )
    model.build(((None, None), (None, None)))
    copy_weights(model, state, names_of_t5("encoder") | names_of_t5("decoder"))
    target, ones = IDS[:, ::-1].copy(), np.ones_like(IDS)
    expected = logits_of(theirs, IDS, ones, target, decoder_attention_mask=torch.from_numpy(ones))
    np.testing.assert_allclose(values(model((IDS, target))), expected, atol=1e-4)
    assert_logits(model.decoder, expected, target, model.encoder(IDS))


def test_attention_of_swin():
    from transformers.models.swin.modeling_swin import SwinAttention

    theirs = SwinAttention(transformers.SwinConfig(window_size=3), D, H, 3)
    state = random_weights(theirs)
    layer = MultiHeadAttention(D, H, use_bias=True)
    layer.build((None, None, D))
    names = {one: f"{one[0]}_proj" for one in ("query", "key", "value", "output")}
    copy_weights(layer, state, names)
    table = state["relative_position_bias.relative_position_bias_table"]
    row, column = np.divmod(np.arange(9), 3)
    index = (row[:, None] - row + 2) * 5 + column[:, None] - column + 2
    bias = table[index].transpose(2, 0, 1)[None]  # (1, H, 9, 9)
    x = np.random.default_rng(2).normal(size=(2, 9, D)).astype(np.float32)
    with torch.no_grad():
        expected = theirs(torch.from_numpy(x))[0].numpy()
    np.testing.assert_allclose(values(layer(x, x, attention_bias=bias)), expected, atol=1e-4)

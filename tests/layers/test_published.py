"""Published Transformers with copied weights have the logits of `transformers`, by steps too."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import (
    AlibiBias,
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


def gelu_tanh(x):
    return keras.activations.gelu(x, approximate=True)


def copy_weights(layer, arrays):
    """Assign arrays to the weights of a built layer, by their paths below it."""
    weights = {w.path.partition("/")[2]: w for w in layer.weights}
    assert set(arrays) == set(weights)
    for name, array in arrays.items():
        weights[name].assign(np.reshape(array, weights[name].shape))


def random_weights(model):
    """Weights by name, none of them 0 or 1."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn_like(parameter) + 0.1)
    model.eval()
    return {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}


def assert_logits(decoder, theirs):
    with torch.no_grad():
        expected = theirs(torch.from_numpy(IDS)).logits.numpy()
    np.testing.assert_allclose(values(decoder(IDS)), expected, atol=1e-4)
    cache = decoder.make_cache(2, LENGTH)
    for t in range(LENGTH):
        step, cache = decoder(IDS[:, t : t + 1], cache=cache, start=t)
        np.testing.assert_allclose(values(step)[:, 0], expected[:, t], atol=1e-4)


def values(x):
    return ops.convert_to_numpy(ops.stop_gradient(x))


def dense(found, name, to, use_bias=True):
    parts = {f"{to}/kernel": found[f"{name}.weight"].T}
    return {**parts, f"{to}/bias": found[f"{name}.bias"]} if use_bias else parts


def layer_norm(found, name, to):
    return {f"{to}/gamma": found[f"{name}.weight"], f"{to}/beta": found[f"{name}.bias"]}


def joint_heads(found, name, to):
    """Projections of query, key and value in one, by heads: `(H, 3, K, ...)`."""
    arrays = {}
    for part, suffix in (("kernel", "weight"), ("bias", "bias")):
        joint = found[f"{name}.{suffix}"].reshape(H, 3, D // H, -1)
        for i, one in enumerate(("query", "key", "value")):
            rows = joint[:, i].reshape(D, -1)
            arrays[f"{to}/{one}/{part}"] = rows.T if part == "kernel" else rows
    return arrays


def test_gpt2():
    config = transformers.GPT2Config(
        vocab_size=V, n_positions=LENGTH, n_embd=D, n_layer=LAYERS, n_head=H, n_inner=F
    )
    theirs = transformers.GPT2LMHeadModel(config)
    found = random_weights(theirs)
    decoder = Decoder(
        *SHAPE,
        cross_attention=False,
        tie_embeddings=True,
        position=LearnedPositionalEncoding(LENGTH, name="positions"),
        padding_id=None,
        scale_embeddings=False,
        use_bias=True,
        activation=gelu_tanh,
        norm_epsilon=1e-5,
    )
    decoder.build((None, None))
    arrays = {
        "embedding/tokens/embeddings": found["transformer.wte.weight"],
        "embedding/positions/table": found["transformer.wpe.weight"],
        **layer_norm(found, "transformer.ln_f", "norm"),
    }
    for i in range(LAYERS):
        name, to = f"transformer.h.{i}", f"block_{i}"
        arrays |= layer_norm(found, f"{name}.ln_1", f"{to}/around_self_attention/norm")
        arrays |= layer_norm(found, f"{name}.ln_2", f"{to}/around_feed_forward/norm")
        for suffix, part in (("weight", "kernel"), ("bias", "bias")):  # kernels are not transposed
            joint = np.split(found[f"{name}.attn.c_attn.{suffix}"], 3, axis=-1)
            for one, array in zip(("query", "key", "value"), joint, strict=True):
                arrays[f"{to}/self_attention/{one}/{part}"] = array
            arrays[f"{to}/self_attention/output/{part}"] = found[f"{name}.attn.c_proj.{suffix}"]
            arrays[f"{to}/feed_forward/inner/{part}"] = found[f"{name}.mlp.c_fc.{suffix}"]
            arrays[f"{to}/feed_forward/outer/{part}"] = found[f"{name}.mlp.c_proj.{suffix}"]
    copy_weights(decoder, arrays)
    assert_logits(decoder, theirs)


SIZES = {
    "vocab_size": V,
    "hidden_size": D,
    "intermediate_size": F,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": H,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-6,
    "pad_token_id": None,
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
# Class, its configuration, and what our decoder takes besides.
LIKE_LLAMA = {
    "Llama": (
        {"rope_parameters": LLAMA3},
        {
            "position": RotaryEmbedding(
                layout="half", scaling="llama3", factor=8, original_max_len=40
            )
        },
    ),
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
    config = getattr(transformers, f"{name}Config")(**SIZES, **settings)
    theirs = getattr(transformers, f"{name}ForCausalLM")(config)
    found = random_weights(theirs)
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
    more = 1.0 if name == "Gemma" else 0.0  # its scales are counted from 1

    def scale(of, to):
        return {f"{to}/scale": found[f"{of}.weight"] + more}

    arrays = {"embedding/tokens/embeddings": found["model.embed_tokens.weight"]}
    arrays |= scale("model.norm", "norm")
    if not decoder.tie_embeddings:
        arrays |= dense(found, "lm_head", "logits", use_bias=False)
    for i in range(LAYERS):
        of, to = f"model.layers.{i}", f"block_{i}"
        arrays |= scale(f"{of}.input_layernorm", f"{to}/around_self_attention/norm")
        arrays |= scale(f"{of}.post_attention_layernorm", f"{to}/around_feed_forward/norm")
        for ours, others in {"query": "q", "key": "k", "value": "v", "output": "o"}.items():
            their_name = f"{of}.self_attn.{others}_proj"
            arrays |= dense(found, their_name, f"{to}/self_attention/{ours}", use_bias=False)
        for ours, others in {"inner": "gate", "gate": "up", "outer": "down"}.items():
            their_name = f"{of}.mlp.{others}_proj"
            arrays |= dense(found, their_name, f"{to}/feed_forward/{ours}", use_bias=False)
        if decoder.qk_norm:
            arrays |= scale(f"{of}.self_attn.q_norm", f"{to}/self_attention/query_norm")
            arrays |= scale(f"{of}.self_attn.k_norm", f"{to}/self_attention/key_norm")
    copy_weights(decoder, arrays)
    assert_logits(decoder, theirs)


def test_gpt_neox():
    config = transformers.GPTNeoXConfig(
        vocab_size=V,
        hidden_size=D,
        num_hidden_layers=LAYERS,
        num_attention_heads=H,
        intermediate_size=F,
        use_parallel_residual=False,
        rope_parameters={**PLAIN, "partial_rotary_factor": 0.5},
    )
    theirs = transformers.GPTNeoXForCausalLM(config)
    found = random_weights(theirs)
    decoder = Decoder(
        *SHAPE,
        cross_attention=False,
        position=RotaryEmbedding(fraction=0.5, layout="half"),
        padding_id=None,
        scale_embeddings=False,
        use_bias=True,
        activation="gelu",
        norm_epsilon=1e-5,
        logits_use_bias=False,
    )
    decoder.build((None, None))
    arrays = {
        "embedding/tokens/embeddings": found["gpt_neox.embed_in.weight"],
        **layer_norm(found, "gpt_neox.final_layer_norm", "norm"),
        **dense(found, "lm_head", "logits", use_bias=False),
    }
    for i in range(LAYERS):
        of, to = f"gpt_neox.layers.{i}", f"block_{i}"
        arrays |= layer_norm(found, f"{of}.input_layernorm", f"{to}/around_self_attention/norm")
        arrays |= layer_norm(
            found, f"{of}.post_attention_layernorm", f"{to}/around_feed_forward/norm"
        )
        arrays |= joint_heads(found, f"{of}.attention.query_key_value", f"{to}/self_attention")
        arrays |= dense(found, f"{of}.attention.dense", f"{to}/self_attention/output")
        arrays |= dense(found, f"{of}.mlp.dense_h_to_4h", f"{to}/feed_forward/inner")
        arrays |= dense(found, f"{of}.mlp.dense_4h_to_h", f"{to}/feed_forward/outer")
    copy_weights(decoder, arrays)
    assert_logits(decoder, theirs)


def test_bloom():
    config = transformers.BloomConfig(
        vocab_size=V, hidden_size=D, n_layer=LAYERS, n_head=H, layer_norm_epsilon=1e-5
    )
    theirs = transformers.BloomForCausalLM(config)
    found = random_weights(theirs)
    options = {"use_bias": True, "activation": gelu_tanh, "norm_epsilon": 1e-5}
    blocks = [
        DecoderBlock(D, 4 * D, H, cross_attention=False, position=AlibiBias(), **options)
        for _ in range(LAYERS)
    ]
    table = found["transformer.word_embeddings.weight"]

    def norm(x, name):
        layer = keras.layers.LayerNormalization(epsilon=1e-5)
        layer.build(x.shape)
        layer.set_weights([found[f"transformer.{name}.{part}"] for part in ("weight", "bias")])
        return layer(x)

    for i, block in enumerate(blocks):
        of = f"transformer.h.{i}"
        block.build((None, None, D))
        copy_weights(
            block,
            layer_norm(found, f"{of}.input_layernorm", "around_self_attention/norm")
            | layer_norm(found, f"{of}.post_attention_layernorm", "around_feed_forward/norm")
            | joint_heads(found, f"{of}.self_attention.query_key_value", "self_attention")
            | dense(found, f"{of}.self_attention.dense", "self_attention/output")
            | dense(found, f"{of}.mlp.dense_h_to_4h", "feed_forward/inner")
            | dense(found, f"{of}.mlp.dense_4h_to_h", "feed_forward/outer"),
        )
    with torch.no_grad():
        expected = theirs(torch.from_numpy(IDS)).logits.numpy()
    x = norm(table[IDS], "word_embeddings_layernorm")
    caches = [block.make_cache(2, LENGTH) for block in blocks]
    steps = []
    for t in range(LENGTH):
        row = x[:, t : t + 1]
        for i, block in enumerate(blocks):
            row, caches[i] = block(row, cache=caches[i], start=t)
        steps.append(row)
    for block in blocks:
        x = block(x)
    for states in (x, ops.concatenate(steps, axis=1)):
        logits = values(norm(states, "ln_f")) @ table.T
        np.testing.assert_allclose(logits, expected, atol=1e-4)


OF_ENCODER = {
    "hidden_size": D,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": H,
    "intermediate_size": F,
    "layer_norm_eps": 1e-12,
}


def encoder_blocks(found, names, prefix, **options):
    """Blocks with the weights of BERT or ViT; `names` are those of attention, norms and network."""
    blocks = []
    for i in range(LAYERS):
        block = EncoderBlock(
            D, F, H, use_bias=True, activation="gelu", norm_epsilon=1e-12, **options
        )
        block.build((None, None, D))
        of = f"{prefix}.{i}"
        copy_weights(
            block,
            {
                k: v
                for ours, of_ours in names.items()
                for k, v in (layer_norm if ours.endswith("norm") else dense)(
                    found, f"{of}.{of_ours}", ours
                ).items()
            },
        )
        blocks.append(block)
    return blocks


def test_bert():
    config = transformers.BertConfig(**OF_ENCODER, vocab_size=V, max_position_embeddings=LENGTH)
    theirs = transformers.BertModel(config, add_pooling_layer=False)
    found = random_weights(theirs)
    attention = "attention.self"
    blocks = encoder_blocks(
        found,
        {
            "self_attention/query": f"{attention}.query",
            "self_attention/key": f"{attention}.key",
            "self_attention/value": f"{attention}.value",
            "self_attention/output": "attention.output.dense",
            "around_self_attention/norm": "attention.output.LayerNorm",
            "feed_forward/inner": "intermediate.dense",
            "feed_forward/outer": "output.dense",
            "around_feed_forward/norm": "output.LayerNorm",
        },
        "encoder.layer",
        norm_first=False,
    )
    mask = np.arange(LENGTH) < np.array([[LENGTH], [5]])
    with torch.no_grad():
        x = theirs.embeddings(torch.from_numpy(IDS)).numpy()
        expected = theirs(torch.from_numpy(IDS), torch.from_numpy(mask)).last_hidden_state.numpy()
    for block in blocks:
        x = block(x, valid_lens=[LENGTH, 5])
    np.testing.assert_allclose(values(x)[mask], expected[mask], atol=1e-4)


def test_vit():
    config = transformers.ViTConfig(**OF_ENCODER, image_size=8, patch_size=4)
    theirs = transformers.ViTModel(config, add_pooling_layer=False)
    found = random_weights(theirs)
    names = {
        "self_attention/query": "attention.q_proj",
        "self_attention/key": "attention.k_proj",
        "self_attention/value": "attention.v_proj",
        "self_attention/output": "attention.o_proj",
        "around_self_attention/norm": "layernorm_before",
        "feed_forward/inner": "mlp.fc1",
        "feed_forward/outer": "mlp.fc2",
        "around_feed_forward/norm": "layernorm_after",
    }
    blocks = encoder_blocks(found, names, "layers")
    pixels = np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32)
    with torch.no_grad():
        x = theirs.embeddings(torch.from_numpy(pixels)).numpy()
        expected = theirs(torch.from_numpy(pixels)).last_hidden_state.numpy()
    for block in blocks:
        x = block(x)
    norm = keras.layers.LayerNormalization(epsilon=1e-12)
    norm.build(x.shape)
    norm.set_weights([found["layernorm.weight"], found["layernorm.bias"]])
    np.testing.assert_allclose(values(norm(x)), expected, atol=1e-4)


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
        feed_forward_proj="relu",
        tie_word_embeddings=False,
        pad_token_id=0,
        decoder_start_token_id=0,
    )
    theirs = transformers.T5ForConditionalGeneration(config)
    found = random_weights(theirs)
    options = {
        "head_size": 6,
        "norm": "rms",
        "norm_epsilon": 1e-6,
        "ffn_use_bias": False,
        "scale_embeddings": False,
        "padding_id": None,
    }
    model = Transformer(
        Encoder(*SHAPE, position=T5RelativeBias(8, 12, name="position"), name="encoder", **options),
        Decoder(
            *SHAPE,
            position=T5RelativeBias(8, 12, bidirectional=False, name="position"),
            logits_use_bias=False,
            name="decoder",
            **options,
        ),
    )
    model.build(((None, None), (None, None)))
    of_model = {}
    for side in ("encoder", "decoder"):
        arrays = {
            "embedding/tokens/embeddings": found["shared.weight"],
            "norm/scale": found[f"{side}.final_layer_norm.weight"],
        }
        if side == "decoder":
            arrays |= dense(found, "lm_head", "logits", use_bias=False)
        kinds = ["self_attention", *(["cross_attention"] if side == "decoder" else [])]
        table = found[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
        for i in range(LAYERS):
            to, of = f"block_{i}", f"{side}.block.{i}.layer"
            arrays[f"{to}/self_attention/position/bias"] = table  # of the first block
            for j, kind in enumerate([*kinds, "feed_forward"]):
                arrays[f"{to}/around_{kind}/norm/scale"] = found[f"{of}.{j}.layer_norm.weight"]
            for j, kind in enumerate(kinds):
                theirs_of = f"{of}.{j}.{'EncDecAttention' if j else 'SelfAttention'}"
                for ours, letter in {"query": "q", "key": "k", "value": "v", "output": "o"}.items():
                    arrays |= dense(found, f"{theirs_of}.{letter}", f"{to}/{kind}/{ours}", False)
                arrays[f"{to}/{kind}/query/kernel"] = arrays[f"{to}/{kind}/query/kernel"] * 6**0.5
            network = f"{of}.{len(kinds)}.DenseReluDense"
            arrays |= dense(found, f"{network}.wi", f"{to}/feed_forward/inner", False)
            arrays |= dense(found, f"{network}.wo", f"{to}/feed_forward/outer", False)
        of_model |= {f"{side}/{name}": array for name, array in arrays.items()}
    copy_weights(model, of_model)
    with torch.no_grad():
        source, target = torch.from_numpy(IDS), torch.from_numpy(IDS[:, ::-1].copy())
        ones = torch.ones_like(source)
        expected = theirs(source, ones, target, decoder_attention_mask=ones).logits.numpy()
    np.testing.assert_allclose(values(model((IDS, IDS[:, ::-1]))), expected, atol=1e-4)
    cache = model.decoder.make_cache(2, LENGTH, model.encoder(IDS))
    for t in range(LENGTH):
        step, cache = model.decoder(IDS[:, ::-1][:, t : t + 1], cache=cache, start=t)
        np.testing.assert_allclose(values(step)[:, 0], expected[:, t], atol=1e-4)


def test_attention_of_swin():
    from transformers.models.swin.modeling_swin import SwinAttention

    config = transformers.SwinConfig(window_size=3)
    theirs = SwinAttention(config, D, H, 3)
    found = random_weights(theirs)
    layer = MultiHeadAttention(D, H, use_bias=True)
    layer.build((None, None, D))
    arrays = {}
    for part in ("query", "key", "value", "output"):
        arrays |= dense(found, f"{part[0]}_proj", part)
    copy_weights(layer, arrays)
    table = found["relative_position_bias.relative_position_bias_table"]
    row, column = np.divmod(np.arange(9), 3)
    index = (row[:, None] - row + 2) * 5 + column[:, None] - column + 2
    bias = table[index].transpose(2, 0, 1)[None]  # (1, H, 9, 9)
    x = np.random.default_rng(2).normal(size=(2, 9, D)).astype(np.float32)
    with torch.no_grad():
        expected = theirs(torch.from_numpy(x))[0].numpy()
    np.testing.assert_allclose(values(layer(x, x, attention_bias=bias)), expected, atol=1e-4)

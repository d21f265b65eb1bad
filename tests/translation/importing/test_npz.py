"""Import of a folder as Marian writes it, beside CTranslate2's reader of such folders."""

import json
import re
import shutil

import numpy as np
import pytest
import sentencepiece

from keras_attn.translation import __main__ as command
from keras_attn.translation.export.translator import Translator
from keras_attn.translation.importing import folder, npz
from keras_attn.translation.importing.marian import import_marian

MODEL, VOCABULARY = "model.npz", "vocab.yml"
NAMES = [
    (r"\.(weight|bias)$", lambda found: {"weight": "W", "bias": "b"}[found[1]]),
    (r"^model\.(\w+)\.layers\.(\d+)\.", lambda found: f"{found[1]}_l{int(found[2]) + 1}_"),
    ("self_attn", "self"),
    ("encoder_attn", "context"),
    (r"_layer_normW", "_Wo_ln_scale"),
    (r"_layer_normb", "_Wo_ln_bias"),
    (r"(\w)_proj(\w)$", r"\2\1"),
    (r"out(\w)o?$", r"\1o"),
    (r"\.", "_"),
    (r"fc(\d)(\w)$", r"ffn_\2\1"),
    ("final_Wo", "ffn_ffn"),
]


def marian_name(name):
    """Name in Marian of a weight of a block in transformers."""
    if name.endswith(("out_proj.weight", "out_proj.bias")):
        name = name.replace("out_proj", "o_proj")
    for pattern, replacement in NAMES:
        name = re.sub(pattern, replacement, name)
    return name


@pytest.fixture(scope="module")
def arrays(tiny):
    """The weights of the tiny model in Marian's names and shapes."""
    found = {}
    for name, weight in folder.read_weights(tiny).items():
        if ".layers." in name:
            found[marian_name(name)] = weight.T if weight.ndim == 2 else weight[None]
        elif name == "final_logits_bias":
            found["decoder_ff_logit_out_b"] = weight.reshape(1, -1)[:, :-1]
        else:
            found["Wemb"] = weight[:-1]
    return found


OPTIONS = {
    "type": "transformer",
    "enc-depth": "1",
    "dec-depth": "1",
    "transformer-ffn-activation": "swish",
    "transformer-preprocess": '""',
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": '""',
    "transformer-decoder-autoreg": "self-attention",
    "transformer-no-projection": "false",
    "transformer-train-position-embeddings": "false",
    "transformer-guided-alignment-layer": "last",
    "tied-embeddings-all": "true",
}


@pytest.fixture(scope="module")
def write(tiny, arrays):
    """`write(path, arrays, options, decoder)`: a folder as Marian writes it."""

    def write(path, others=None, options=None, decoder=None):
        shutil.copytree(tiny, path, ignore=shutil.ignore_patterns("*.json", "*.safetensors"))
        config = json.loads((tiny / "config.json").read_text())
        chosen = {
            **OPTIONS,
            "enc-depth": config["encoder_layers"],
            "dec-depth": config["decoder_layers"],
            "transformer-heads": config["encoder_attention_heads"],
            **(options or {}),
        }
        text = "".join(f"{name}: {value}\n" for name, value in chosen.items() if value is not None)
        content = np.frombuffer(text.encode() + b"\0", np.int8)
        given = {**arrays, **(others or {}), "special:model.yml": content}
        np.savez(path / MODEL, **{name: one for name, one in given.items() if one is not None})
        settings = {
            "models": [MODEL],
            "vocabs": [VOCABULARY] * 2,
            "beam-size": 1,
            "normalize": 1,
            **(decoder or {}),
        }
        (path / npz.DECODER).write_text(json.dumps(settings))  # JSON is YAML
        ids = json.loads((tiny / "vocab.json").read_text(encoding="utf-8"))
        del ids["<pad>"]
        lines = (f"{json.dumps(token, ensure_ascii=False)}: {i}\n" for token, i in ids.items())
        (path / VOCABULARY).write_text("".join(lines), encoding="utf-8")
        return path

    return write


def test_weights_are_those_of_the_model_in_transformers(tiny, write, tmp_path):
    found, expected = npz.read(write(tmp_path / "model")), folder.read(tiny)
    assert found.vocabularies == expected.vocabularies
    padding = expected.config["pad_token_id"]
    for name, weight in expected.weights.items():
        ours = found.weights.get(name, found.weights["model.encoder.embed_tokens.weight"])
        if ".layers." in name:
            np.testing.assert_array_equal(ours, weight, err_msg=name)
        else:
            weight = np.moveaxis(weight, -1, 0) if weight.shape[0] == 1 else weight
            ours = np.moveaxis(ours, -1, 0) if ours.shape[0] == 1 else ours
            np.testing.assert_array_equal(ours[:padding], weight[:padding])
            assert (ours[padding] == 0).all()


@pytest.mark.slow
def test_greedy_translations_are_those_of_ctranslate2(tiny, write, answers, tmp_path):
    ctranslate2 = pytest.importorskip("ctranslate2")
    converters = pytest.importorskip("ctranslate2.converters")
    model = write(tmp_path / "model")
    with pytest.warns(UserWarning, match="several target languages"):
        translator = import_marian(model, tmp_path / "out", source="ja", target="fr")
    assert translator.config.beam_size == 1 and translator.config.norm_epsilon == 1e-6
    assert translator.config.max_length_ratio == 3.0
    vocabularies = [str(model / VOCABULARY)] * 2
    converters.MarianConverter(str(model / MODEL), vocabularies).convert(str(tmp_path / "ct2"))
    peer = ctranslate2.Translator(str(tmp_path / "ct2"), compute_type="float32")
    source = sentencepiece.SentencePieceProcessor(model_file=str(model / "source.spm"))
    expected = []
    for text in answers["sentences"]:
        token, rest = re.fullmatch(r"(>>\w+<<)?(.*)", text).groups()
        pieces = [*filter(None, [token]), *source.encode(rest, out_type=str)]
        longest = 3 * (len(pieces) + 1)
        (said,) = peer.translate_batch(
            [pieces],
            beam_size=1,
            min_decoding_length=0,
            max_decoding_length=longest,
            disable_unk=True,
        )
        expected.append("".join(said.hypotheses[0]).replace("▁", " ").strip())
    assert translator(answers["sentences"]) == expected
    assert len(set(expected)) > 5
    assert Translator.load(tmp_path / "out").config == translator.config


def test_embeddings_and_logits_may_be_apart(arrays, write, tmp_path):
    table = arrays["Wemb"]
    apart = {"Wemb": None, "encoder_Wemb": table, "decoder_Wemb": 2 * table}
    apart["decoder_ff_logit_out_W"] = 3 * table.T
    found = npz.read(write(tmp_path / "model", apart, decoder={"allow-unk": "true"}))
    assert not found.config["share_encoder_decoder_embeddings"]
    assert not found.config["tie_word_embeddings"]
    assert len(found.generation["bad_words_ids"]) == 1
    names = "model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"
    for factor, name in enumerate(names, start=1):
        np.testing.assert_array_equal(found.weights[f"{name}.weight"][:-1], factor * table)


def test_tokens_that_yaml_reads_as_other_things_stay_text(write, tmp_path):
    model = write(tmp_path / "model")
    (model / VOCABULARY).write_text(
        '</s>: 0\n<unk>: 1\nno: 2\n1: 3\n"~": 4\n"\\"": 5\n? "\\x85"\n: 6\n', encoding="utf-8"
    )
    assert [*npz.read(model).vocabularies[0]] == '</s> <unk> no 1 ~ " \x85 <pad>'.split(" ")


FAULTS = [
    ({"decoder": {"models": [MODEL] * 2}}, "must have one model and two vocabularies"),
    ({"decoder": {"models": ["other.npz"]}}, "There is no `other.npz`"),
    ({"decoder": {"vocabs": [VOCABULARY, "source.spm"]}}, "source.spm` must be a YAML file with"),
    ({"decoder": {"word-penalty": 0.5}}, "Received: word-penalty=0.5"),
    ({"decoder": {"beam-size": "many"}}, "`beam-size` of the Marian model must be a number"),
    ({"options": {"type": "s2s"}}, "Received: type='s2s'"),
    ({"options": {"transformer-ffn-activation": "gelu"}}, "activation='gelu'"),
    ({"options": {"transformer-heads": None}}, "Received: no transformer-heads"),
    ({"options": {"dec-depth": 0}}, "Received: dec-depth='0'"),
    ({"options": {"dec-depth": 3}}, "those of the model's options. Received: no "),
    ({"others": {"Wpos": np.ones((9, 8))}}, "Received: besides, Wpos"),
    (MODEL, ""),  # cut off
    (VOCABULARY, ""),
    (npz.DECODER, ""),
]


def test_what_is_no_such_model_is_named_in_one_sentence(write, tmp_path, capsys):
    out = tmp_path / "out"
    for number, (changes, reason) in enumerate(FAULTS):
        is_cut = isinstance(changes, str)
        model = write(tmp_path / str(number), **({} if is_cut else changes))
        if is_cut:
            content = (model / changes).read_bytes()
            (model / changes).write_bytes(content[: len(content) // 2])
        languages = ["--source", "ja", "--target", "fr"]
        assert command.main(["import-marian", str(model), str(out), *languages]) == 2, changes
        said = capsys.readouterr().err
        assert said.startswith("error: ") and reason in said, changes
        assert is_cut or said.count("\n") == 1, changes
        assert not out.exists()

"""Import of a folder as Marian writes it, compared with CTranslate2's reader of such folders."""

import json
import re
import shutil

import numpy as np
import pytest
import sentencepiece

from keras_attn.__main__ import main
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
def arrays(tiny_files):
    """The weights of the tiny model in Marian's names and shapes."""
    found = {}
    for name, weight in tiny_files[2].items():
        if ".layers." in name:
            found[marian_name(name)] = weight.T if weight.ndim == 2 else weight[None]
        elif name == "final_logits_bias":
            found["decoder_ff_logit_out_b"] = weight.reshape(1, -1)[:, :-1]
        else:
            found["Wemb"] = weight[:-1]
    return found


OPTIONS = {
    "type": "transformer",
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


@pytest.fixture
def write(tiny, tiny_files, arrays, tmp_path):
    """`write(arrays, options, decoder)`: a folder as Marian writes it."""
    config, *_ = tiny_files
    sizes = {
        "enc-depth": config["encoder_layers"],
        "dec-depth": config["decoder_layers"],
        "transformer-heads": config["encoder_attention_heads"],
    }
    search = {"models": [MODEL], "vocabs": [VOCABULARY] * 2, "beam-size": 1, "normalize": 1}

    def write(others=None, options=None, decoder=None):
        path = tmp_path / "model"
        shutil.copytree(tiny, path, ignore=shutil.ignore_patterns("*.json", "*.safetensors"))
        chosen = {**OPTIONS, **sizes, **(options or {})}
        text = "".join(f"{name}: {value}\n" for name, value in chosen.items() if value is not None)
        content = np.frombuffer(text.encode() + b"\0", np.int8)
        given = {**arrays, **(others or {}), "special:model.yml": content}
        np.savez(path / MODEL, **{name: one for name, one in given.items() if one is not None})
        settings = json.dumps({**search, **(decoder or {})})  # JSON is YAML
        (path / npz.DECODER).write_text(settings)
        ids = json.loads((tiny / "vocab.json").read_text(encoding="utf-8"))
        del ids["<pad>"]
        lines = (f"{json.dumps(token, ensure_ascii=False)}: {i}\n" for token, i in ids.items())
        (path / VOCABULARY).write_text("".join(lines), encoding="utf-8")
        return path

    return write


@pytest.fixture
def refusal(capsys, tmp_path):
    """`refusal(model)`: the message of the command, which writes nothing."""

    def refusal(model):
        languages = ["--source", "ja", "--target", "fr"]
        assert main(["import-marian", str(model), str(tmp_path / "out"), *languages]) == 2
        assert not (tmp_path / "out").exists()
        said = capsys.readouterr().err
        assert said.startswith("error: ") and said.count("\n") == 1
        return said

    return refusal


def test_weights_are_those_of_the_model_in_transformers(tiny, write):
    found, expected = npz.read(write()), folder.read(tiny)
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
    model = write()
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
        limits = {"min_decoding_length": 0, "max_decoding_length": 3 * (len(pieces) + 1)}
        (said,) = peer.translate_batch([pieces], beam_size=1, disable_unk=True, **limits)
        expected.append("".join(said.hypotheses[0]).replace("▁", " ").strip())
    assert translator(answers["sentences"]) == expected
    assert len(set(expected)) > 5
    assert Translator.load(tmp_path / "out").config == translator.config


def test_embeddings_and_logits_may_be_apart(arrays, write):
    table = arrays["Wemb"]
    apart = {"Wemb": None, "encoder_Wemb": table, "decoder_Wemb": 2 * table}
    apart["decoder_ff_logit_out_W"] = 3 * table.T
    found = npz.read(write(apart, decoder={"allow-unk": "true"}))
    assert not found.config["share_encoder_decoder_embeddings"]
    assert not found.config["tie_word_embeddings"]
    assert len(found.generation["bad_words_ids"]) == 1
    names = "model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"
    for factor, name in enumerate(names, start=1):
        np.testing.assert_array_equal(found.weights[f"{name}.weight"][:-1], factor * table)


def test_tokens_that_yaml_reads_as_other_things_stay_text(write):
    model = write()
    (model / VOCABULARY).write_text(
        '</s>: 0\n<unk>: 1\nno: 2\n1: 3\n"~": 4\n"\\"": 5\n? "\\x85"\n: 6\n', encoding="utf-8"
    )
    assert [*npz.read(model).vocabularies[0]] == '</s> <unk> no 1 ~ " \x85 <pad>'.split(" ")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"decoder": {"models": [MODEL] * 2}}, "must have one model and two vocabularies"),
        ({"decoder": {"models": ["other.npz"]}}, "There is no `other.npz`"),
        ({"decoder": {"vocabs": [VOCABULARY, "source.spm"]}}, "source.spm` must be a YAML file"),
        ({"decoder": {"word-penalty": 0.5}}, "Received: word-penalty=0.5"),
        ({"decoder": {"beam-size": "many"}}, "`beam-size` of the Marian model must be a number"),
        ({"options": {"type": "s2s"}}, "Received: type='s2s'"),
        ({"options": {"transformer-ffn-activation": "gelu"}}, "activation='gelu'"),
        ({"options": {"transformer-heads": None}}, "Received: transformer-heads=None"),
        ({"options": {"dec-depth": 0}}, "Received: dec-depth='0'"),
        (
            {"options": {"dec-depth": 3}},
            "weights must be those of this model. Received: missing dec",
        ),
        ({"others": {"Wpos": np.ones((9, 8))}}, "missing none; unknown Wpos"),
    ],
)
def test_what_is_no_such_model_is_named_in_one_sentence(write, refusal, changes, reason):
    assert reason in refusal(write(**changes))


@pytest.mark.parametrize("name", [MODEL, VOCABULARY, npz.DECODER])
def test_a_file_that_is_cut_off_is_refused(write, refusal, name):
    model = write()
    content = (model / name).read_bytes()
    (model / name).write_bytes(content[: len(content) // 2])
    refusal(model)

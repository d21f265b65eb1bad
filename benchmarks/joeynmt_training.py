"""JoeyNMT on our corpus, pieces and sizes, for `train_throughput.py`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keras_attn.translation.tokenizer import Tokenizers

SPECIAL_PIECES = ("<unk>", "<pad>", "<s>", "</s>")
LOG_EVERY = 5  # updates


def prepare(
    folder: Path,
    texts: dict[str, Sequence[tuple[str, str]]],
    tokenizers: Tokenizers,
    fields: dict[str, Any],
    updates: int,
    validate_every: int,
) -> Path:
    """Write all that JoeyNMT reads.

    Args:
        folder: New folder for it.
        texts: Pairs of the splits `train`, `dev` and `test`.
        tokenizers: Both are given to JoeyNMT as SentencePiece models.
        fields: The fields of our `Config` as a dict.
        updates: After how many it ends.
        validate_every: Updates between two validations, a multiple of `LOG_EVERY`.

    Returns:
        Its configuration.
    """
    folder.mkdir(parents=True)
    languages = ("ja", "en")
    for split, pairs in texts.items():
        for side, language in enumerate(languages):
            lines = "".join(pair[side] + "\n" for pair in pairs)
            (folder / f"{split}.{language}").write_text(lines, encoding="utf-8")
    data: dict[str, Any] = {split: str(folder / split) for split in texts}
    data["dataset_type"] = "plain"
    for language, side, tokenizer in zip(languages, ("src", "trg"), tokenizers, strict=True):
        model, words = folder / f"{language}.model", folder / f"{language}.vocab"
        model.write_bytes(tokenizer.proto)
        pieces = [piece for piece in tokenizer.pieces if piece not in SPECIAL_PIECES]
        words.write_text("\n".join([*SPECIAL_PIECES, *pieces]) + "\n", encoding="utf-8")
        data[side] = {
            "lang": language,
            "level": "bpe",
            "max_length": fields["max_pieces"],
            "voc_file": str(words),
            "tokenizer_type": "sentencepiece",
            "tokenizer_cfg": {"model_file": str(model)},
        }
    stack = {
        "type": "transformer",
        "num_heads": fields["num_heads"],
        "hidden_size": fields["num_hiddens"],
        "ff_size": fields["ffn_num_hiddens"],
        "dropout": fields["dropout"],
        "layer_norm": "pre",
        "embeddings": {"embedding_dim": fields["num_hiddens"], "scale": True, "dropout": 0.0},
    }
    configuration = {
        "name": "peer",
        "joeynmt_version": "2.3.0",
        "model_dir": str(folder / "model"),
        "use_cuda": False,
        "data": data,
        "testing": {
            "beam_size": fields["beam_size"],
            "beam_alpha": fields["length_penalty"],
            "batch_size": 64,
            "batch_type": "sentence",
            "eval_metrics": ["bleu"],
            "max_output_length": fields["max_pieces"],
        },
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "scheduling": "warmupinversesquareroot",
            "learning_rate": fields["learning_rate"],
            "learning_rate_warmup": fields["warmup_steps"],
            "learning_rate_min": 1e-9,
            "clip_grad_norm": fields["clip_norm"],
            "label_smoothing": fields["label_smoothing"],
            "loss": "crossentropy",
            "normalization": "tokens",
            # It counts the longer side, we count both.
            "batch_size": fields["batch_tokens"] // 2,
            "batch_type": "token",
            "early_stopping_metric": "bleu",
            "epochs": 1000,
            "updates": updates,
            "validation_freq": validate_every,
            "logging_freq": LOG_EVERY,
            "keep_best_ckpts": 1,
            "shuffle": True,
            "overwrite": True,
            "random_seed": 1,
        },
        "model": {
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
            "encoder": {**stack, "num_layers": fields["num_encoder_layers"]},
            "decoder": {**stack, "num_layers": fields["num_decoder_layers"]},
        },
    }
    path = folder / "config.yaml"
    # JSON is YAML, but for numbers such as 1e-9, which YAML reads as text.
    text = re.sub(r"(?<=: )(\d+)e-", r"\1.0e-", json.dumps(configuration, indent=1))
    path.write_text(text, encoding="utf-8")
    return path


def target_tokens_per_second(python: Path, configuration: Path, num_threads: int) -> list[float]:
    """What it prints of its speed, every `LOG_EVERY` updates."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(num_threads), "CUDA_VISIBLE_DEVICES": ""}
    ended = subprocess.run(
        [str(python), "-m", "joeynmt", "train", str(configuration), "--skip-test"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if ended.returncode:
        raise RuntimeError(f"JoeyNMT ended with code {ended.returncode}:\n{ended.stdout}")
    return [float(found) for found in re.findall(r"Tokens per Sec:\s+(\d+)", ended.stdout)]

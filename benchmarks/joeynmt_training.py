"""Training of JoeyNMT with our corpus, pieces and sizes, for the training benchmarks."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from keras_attn.translation.tokenization.tokenizer import Tokenizers

SPECIAL_PIECES = ("<unk>", "<pad>", "<s>", "</s>")
LOG_EVERY = 5  # updates
LATEST = "latest.ckpt"


def prepare(
    folder: Path,
    texts: dict[str, Sequence[tuple[str, str]]],
    tokenizers: Tokenizers,
    fields: dict[str, Any],
    updates: int,
    validate_every: int,
) -> Path:
    """Write all input files of JoeyNMT.

    Args:
        folder: New folder for the files.
        texts: Pairs of the splits `train`, `dev` and `test`.
        tokenizers: Source and target tokenizers, saved as SentencePiece models.
        fields: Fields of our `Config` as a dict.
        updates: Number of updates of the training.
        validate_every: Updates between two validations, a multiple of `LOG_EVERY`.

    Returns:
        Path of the configuration of JoeyNMT.
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
            "max_length": fields["max_length"],
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
        "embeddings": {
            "embedding_dim": fields["num_hiddens"],
            "scale": True,
            "dropout": fields["dropout"],
        },
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
            "max_output_length": fields["max_length"],
            "generate_unk": False,
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
            # JoeyNMT counts the tokens of the longer side; we count both sides.
            "batch_size": fields["batch_tokens"] // 2,
            "batch_type": "token",
            "early_stopping_metric": "bleu",
            "epochs": 1000,
            "updates": updates,
            "validation_freq": validate_every,
            "logging_freq": LOG_EVERY,
            # Save at each validation, because the last checkpoint translates, not the best one.
            "keep_best_ckpts": -1,
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
    _write(configuration, path)
    return path


def _write(configuration: dict[str, Any], path: Path) -> None:
    # JSON is valid YAML, except numbers such as 1e-9, which YAML reads as text.
    text = re.sub(r"(?<=: )(\d+)e-", r"\1.0e-", json.dumps(configuration, indent=1))
    path.write_text(text, encoding="utf-8")


def target_tokens_per_second(python: Path, configuration: Path, num_threads: int) -> list[float]:
    """Speeds that JoeyNMT logs, every `LOG_EVERY` updates."""
    printed = _run(_training(python, configuration), _environment(num_threads))
    return [float(found) for found in re.findall(r"Tokens per Sec:\s+(\d+)", printed)]


def translations_after(
    python: Path, configuration: Path, num_threads: int, minutes: Sequence[float]
) -> Iterator[list[str]]:
    """Translations of the split `test` after each number of minutes of one training.

    The training is paused while the last checkpoint, from the validation before, translates. Time
    is counted from the start of the first epoch.
    """
    environment = _environment(num_threads)
    path = configuration.parent / "log"
    with path.open("w") as log:
        training = subprocess.Popen(
            _training(python, configuration), env=environment, stdout=log, stderr=log
        )
        try:
            while "EPOCH 1" not in path.read_text() and training.poll() is None:
                time.sleep(0.1)
            done = 0.0
            for number in minutes:
                time.sleep(60 * (number - done))
                done = number
                if training.poll() is not None:
                    raise RuntimeError(f"JoeyNMT ended too early:\n{path.read_text()}")
                training.send_signal(signal.SIGSTOP)
                _delete_all_but_the_last(configuration.parent / "model")
                yield _translations(python, configuration, environment)
                training.send_signal(signal.SIGCONT)
        finally:
            training.kill()
            training.wait()


def _translations(python: Path, configuration: Path, environment: dict[str, str]) -> list[str]:
    folder = configuration.parent
    settings = json.loads(configuration.read_text(encoding="utf-8"))
    settings["testing"]["load_model"] = str(folder / "model" / LATEST)
    testing = folder / "testing.yaml"
    _write(settings, testing)
    command = [str(python), "-m", "joeynmt", "test", str(testing), "-o", str(folder / "said")]
    _run(command, environment)
    return (folder / "said.test").read_text(encoding="utf-8").split("\n")[:-1]


def _delete_all_but_the_last(folder: Path) -> None:
    """Delete checkpoints older than the last complete one; a newer one is still being written."""
    last = (folder / LATEST).resolve()
    for path in folder.glob("*.ckpt"):
        # The link to the best checkpoint may already be dangling.
        if not path.is_symlink() and path.stat().st_mtime < last.stat().st_mtime:
            path.unlink()


def _run(command: list[str], environment: dict[str, str]) -> str:
    """Run a command of JoeyNMT and return the output."""
    ended = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if ended.returncode:
        raise RuntimeError(f"JoeyNMT ended with code {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


def _training(python: Path, configuration: Path) -> list[str]:
    return [str(python), "-m", "joeynmt", "train", str(configuration), "--skip-test"]


def _environment(num_threads: int) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(num_threads), "CUDA_VISIBLE_DEVICES": ""}

"""Effect of training settings: `python benchmarks/learning.py --tokens 2.6e6 --try "..." "..."`.

Trains on `tatoeba` for a number of source and target tokens with each set of settings, in a
separate process. Prints the validation loss of the averaged weights in nats for each sentence,
which is a finer measure than BLEU, and BLEU of greedy search. Also prints the loss for noisy
sources and for two sentences in one text. The length is given in tokens instead of minutes, so that
runs may share a busy machine; the training speed is printed too.

A setting is one of the following; `train.py` chooses all others for this number of tokens:

- a field of `Config`, for example `dropout=0.2`;
- `optimizer=NAME` for an optimizer of `keras.optimizers` instead of ours;
- `optimizer.NAME=VALUE` for an argument of the optimizer, for example `optimizer.ns_steps=5`.

`--pairs 50000` trains on a random part of the corpus. This shows in a quarter of the time the
effects of a long training on all pairs, in which each pair is repeated as often.
"""

import argparse
import dataclasses
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from machine import describe_machine
from turns import Table

from keras_attn import Transformer
from keras_attn.languages import read_language
from keras_attn.translation import presets
from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.batching.masking import MaskedParts
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import Corpus, load_corpus
from keras_attn.translation.corpus.pairs import WeightedPairs
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.decoding.teacher_forcing import log_probabilities
from keras_attn.translation.evaluation.metrics import bleu
from keras_attn.translation.model import make_model
from keras_attn.translation.runtime import allocator, precision, threads
from keras_attn.translation.special_ids import EOS_ID
from keras_attn.translation.text.noise import add_noise
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.tokenizer import Tokenizers
from keras_attn.translation.training import lexical_start
from keras_attn.translation.training.callbacks import WeightAveraging
from keras_attn.translation.training.step import make_trainer
from keras_attn.translation.training.validation import translate_with
from keras_attn.translation.training.weight_average import WeightAverage

BATCH_SIZE = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="tatoeba")
    parser.add_argument("--pairs", type=int, help="number of training pairs (default: all)")
    parser.add_argument("--tokens", type=float, default=5.2e6, help="training tokens, both sides")
    parser.add_argument("--try", dest="tries", nargs="+", default=[""], help="settings of each run")
    # Internal option: this script starts itself, so that each run has a separate process.
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        pairs = part_of(load_corpus(arguments.data), arguments.pairs)
        print(json.dumps(learn(pairs, arguments.tokens, settings_of(arguments.one))))
        return
    print(describe_machine(("tensorflow", "keras")))
    number = f"{arguments.pairs:,}" if arguments.pairs else "all"
    print(f"{arguments.data}, {number} pairs, {arguments.tokens:,.0f} tokens", flush=True)
    columns = dict.fromkeys(("nats", "noisy", "joined", "BLEU"), ">9,.2f")
    columns |= {"steps": ">9,", "tokens/s": ">9,.0f"}
    table = Table({**columns, "  settings": ""})
    for settings in arguments.tries:
        command = [sys.executable, __file__, "--data", arguments.data, "--one", settings]
        command += ["--pairs", str(arguments.pairs)] if arguments.pairs else []
        command += ["--tokens", str(arguments.tokens)]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(ended.stdout.splitlines()[-1])
        table.add(*(found[name] for name in columns), f"  {settings}")


def settings_of(text: str) -> dict[str, Any]:
    """Parse settings such as `"dropout=0.2 position=rotary"` to a dict of numbers and strings."""
    found = {}
    for part in text.split():
        name, _, value = part.partition("=")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def part_of(pairs: Corpus, number: int | None) -> Corpus:
    """Corpus with a fixed random sample of the training pairs."""
    if number is None:
        return pairs
    chosen = random.Random(0).sample(pairs.train, number)
    weighted = WeightedPairs(chosen, [1.0] * number)
    return dataclasses.replace(pairs, train=chosen, parts=[weighted])


def learn(pairs: Corpus, num_tokens: float, settings: dict[str, Any]) -> dict[str, float]:
    """Train a model and evaluate it on the validation split."""
    allocator.keep_freed_memory()
    threads.set_intra_op_threads()
    name = settings.pop("optimizer", None)
    prefix = "optimizer."
    options = {k.removeprefix(prefix): v for k, v in settings.items() if k.startswith(prefix)}
    settings = {k: v for k, v in settings.items() if not k.startswith(prefix)}
    speeds = precision.measure_speeds()
    usual = {
        "precision": precision.fastest(speeds),
        "steps": int(num_tokens / settings.get("batch_tokens", Config.batch_tokens)),
    }
    config = presets.for_corpus(pairs.num_train, speeds, data=pairs.name, **{**usual, **settings})
    with tempfile.TemporaryDirectory() as folder:
        tokenizers = tokenizer.load_or_train(Path(folder), pairs.train, config)
    batched = Batches(MaskedParts(pairs.parts, config), tokenizers, config)
    keras.utils.set_random_seed(config.seed)
    model = make_model(*(side.vocab_size for side in tokenizers), config)
    lexical_start.apply(model, batched.sides, config.seed)
    trainer = make_trainer(model, config)
    if name or options:
        ours = trainer.optimizer
        kind = getattr(keras.optimizers, name) if name else type(ours)
        kept = {"global_clipnorm": config.clip_norm} if name else ours.get_config()
        optimizer = kind(**{**kept, **options, "learning_rate": trainer.schedule})
        optimizer.build(model.trainable_variables)
        trainer.compile(optimizer, jit_compile=False)
    average = WeightAverage(model.trainable_variables, config.average_decay)
    steps, tokens = 0, 0
    while tokens < num_tokens:
        tokens += batched.num_tokens(steps)
        steps += 1

    def tell(batch: int, logs: Any) -> None:
        trainer.schedule.done.assign((batch + 1) / steps)
        trainer.schedule.left.assign(1 - batch / steps)

    start = time.monotonic()
    trainer.fit(
        batched.dataset(),
        steps_per_epoch=steps,
        callbacks=[
            WeightAveraging(average, config.average_interval),
            keras.callbacks.LambdaCallback(on_train_batch_begin=tell),
        ],
        shuffle=False,
        verbose=0,
    )
    seconds = time.monotonic() - start
    average.swap()
    held_out = pairs.validation
    translations = translate_with(model, tokenizers, config)([e.source for e in held_out])
    return {
        "nats": nats(model, tokenizers, held_out),
        "noisy": nats(model, tokenizers, noisy(held_out, config.source)),
        "joined": nats(model, tokenizers, joined(held_out, config.source, config.target)),
        "BLEU": bleu(translations, [e.references for e in held_out], config.target),
        "steps": steps,
        "tokens/s": tokens / seconds,
    }


def noisy(examples: Sequence[Example], language: str) -> list[Example]:
    """The examples with one kind of noise in each source."""
    draw = random.Random(0)
    return [e._replace(source=add_noise(e.source, language, draw)) for e in examples]


def joined(examples: Sequence[Example], source: str, target: str) -> list[Example]:
    """Each two examples, with their first references, as one."""
    of_source, of_target = (read_language(side).joiner for side in (source, target))
    two = zip(examples[::2], examples[1::2], strict=False)
    return [
        Example(a.source + of_source + b.source, (a.references[0] + of_target + b.references[0],))
        for a, b in two
    ]


def nats(model: Transformer, tokenizers: Tokenizers, examples: Sequence[Example]) -> float:
    """Mean loss of the first reference of each example, in nats for each sentence."""
    ids = tf.TensorSpec((None, None), tf.int32)
    score = tf.function(lambda *sides: log_probabilities(model, *sides), input_signature=[ids] * 2)
    sources = tokenizers.source.encode([example.source for example in examples])
    targets = tokenizers.target.encode([example.references[0] for example in examples])
    order = sorted(range(len(examples)), key=lambda i: len(targets[i]))
    costs = []
    for begin in range(0, len(order), BATCH_SIZE):
        rows = order[begin : begin + BATCH_SIZE]
        sides = (
            tf.ragged.constant([[*side[i], EOS_ID] for i in rows], tf.int32).to_tensor()
            for side in (sources, targets)
        )
        costs += score(*sides).numpy().tolist()
    return -math.fsum(costs) / len(costs)


if __name__ == "__main__":
    main()

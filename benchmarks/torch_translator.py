"""Translator trained by the PyTorch loop, in a separate process of `time_to_bleu.py`.

Reads one JSON request from each line and writes one JSON line as answer: `{"load": [FILES],
"config": ...}` loads batches, one epoch from each file; `{"seconds": S}` trains `S` seconds longer;
`{"translate": [IDS, ...]}` translates with the averaged weights and greedy search.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from peer import answer_requests
from torch_transformer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Batch, Training, Translator
from training_peers import read_batches

BATCH_SIZE = 64


def main() -> None:
    precision, num_threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(num_threads)
    torch.manual_seed(0)
    training: Training
    batches: Iterator[Batch]

    def answer(request: dict[str, Any]) -> Any:
        nonlocal training, batches
        if "load" in request:
            fields = request["config"]
            model = Translator(fields["source_size"], fields["target_size"], fields)
            training, batches = Training(model, fields, precision), endless(request["load"])
            return None
        if "seconds" in request:
            return train(training, batches, request["seconds"])
        training.swap()
        translations = translate(training.model, request["translate"])
        training.swap()
        return translations

    answer_requests(answer)


def endless(files: list[str]) -> Iterator[Batch]:
    for file in itertools.cycle(files):
        yield from read_batches(Path(file))


def train(training: Training, batches: Iterator[Batch], seconds: float) -> int:
    """Train for some seconds; return the number of batches."""
    start, steps = time.monotonic(), 0
    while time.monotonic() - start < seconds:
        training.step(next(batches))
        steps += 1
    return steps


@torch.inference_mode()
def translate(model: Translator, sources: list[list[int]]) -> list[list[int]]:
    """Translate source ids with EOS to target ids."""
    model.eval()
    translations: list[list[int]] = [[] for _ in sources]
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    for begin in range(0, len(order), BATCH_SIZE):
        rows = order[begin : begin + BATCH_SIZE]
        longest = max(len(sources[i]) for i in rows)
        source = torch.full((len(rows), longest), PAD_ID)
        for row, i in enumerate(rows):
            source[row, : len(sources[i])] = torch.tensor(sources[i])
        memory, is_padding = model.encode(source)
        target = torch.full((len(rows), 1), BOS_ID)
        ended = torch.zeros(len(rows), dtype=torch.bool)
        while target.shape[1] <= 2 * longest + 10 and not ended.all():
            logits = model.decode(target, memory, is_padding)[:, -1]
            logits[:, [PAD_ID, UNK_ID, BOS_ID]] = -torch.inf
            token = torch.where(ended, PAD_ID, logits.argmax(dim=-1))
            target = torch.cat([target, token[:, None]], dim=1)
            ended |= token == EOS_ID
        for i, said in zip(rows, target[:, 1:].tolist(), strict=True):
            translations[i] = [token for token in said if token not in (PAD_ID, EOS_ID)]
    return translations


if __name__ == "__main__":
    main()

"""Typical PyTorch training loop with `nn.Transformer`, without Keras and TensorFlow.

Runs in an environment with PyTorch; used by `training_peer.py`.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import nn

PAD_ID, UNK_ID, BOS_ID, EOS_ID = range(4)
ROWS = 64  # sources translated at once
Batch = tuple[np.ndarray, np.ndarray, np.ndarray]  # source, target_in, target_out


class Translator(nn.Module):
    """Transformer from token ids to logits `(B, T, V)`: pre-norm, sinusoidal positions."""

    def __init__(self, sizes: dict[str, Any]):
        super().__init__()
        width, vocab_size = sizes["num_hiddens"], sizes["vocab_size"]
        self._scale = math.sqrt(width)
        self.source, self.target = (
            nn.Embedding(vocab_size, width, padding_idx=PAD_ID) for _ in range(2)
        )
        for embedding in (self.source, self.target):
            nn.init.normal_(embedding.weight, std=width**-0.5)
        self.transformer = nn.Transformer(
            d_model=width,
            nhead=sizes["num_heads"],
            num_encoder_layers=sizes["num_encoder_layers"],
            num_decoder_layers=sizes["num_decoder_layers"],
            dim_feedforward=sizes["ffn_num_hiddens"],
            dropout=sizes["dropout"],
            batch_first=True,
            norm_first=True,
        )
        self.logits = nn.Linear(width, vocab_size)
        self.dropout = nn.Dropout(sizes["dropout"])
        self.register_buffer("positions", _positions(512, width), persistent=False)

    def encode(self, source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Memory `(B, S, D)` and padding mask `(B, S)`."""
        is_padding = source == PAD_ID
        x = self._embed(self.source, source)
        return self.transformer.encoder(x, src_key_padding_mask=is_padding), is_padding

    def decode(
        self, target: torch.Tensor, memory: torch.Tensor, is_padding: torch.Tensor
    ) -> torch.Tensor:
        """Logits of the next token at each target position."""
        hidden = nn.Transformer.generate_square_subsequent_mask(
            target.shape[1], device=target.device
        )
        x = self.transformer.decoder(
            self._embed(self.target, target),
            memory,
            tgt_mask=hidden,
            tgt_is_causal=True,
            memory_key_padding_mask=is_padding,
        )
        return self.logits(x)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return self.decode(target, *self.encode(source))

    def _embed(self, table: nn.Embedding, ids: torch.Tensor) -> torch.Tensor:
        return self.dropout(table(ids) * self._scale + self.positions[: ids.shape[1]])


def _positions(length: int, width: int) -> torch.Tensor:
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, width)


class Training:
    """Training with Adam, warm-up, label smoothing, gradient clipping and averaged weights.

    Args:
        model: New `Translator`.
        config: Fields of our `Config` as a dict.
        precision: `"float32"`, or `"bfloat16"` for autocast.
        compiled: Whether `torch.compile` compiles model and loss. Defaults to False.
    """

    def __init__(
        self, model: Translator, config: dict[str, Any], precision: str, compiled: bool = False
    ):
        self.model = model
        self._config = config
        self._autocast = precision == "bfloat16"
        self._loss = nn.CrossEntropyLoss(
            ignore_index=PAD_ID, label_smoothing=config["label_smoothing"]
        )
        self._parameters = list(model.parameters())
        self._optimizer = torch.optim.AdamW(
            self._parameters,
            lr=config["learning_rate"],
            betas=(0.9, 0.98),
            weight_decay=0.0,
            fused=True,
        )
        warmup = config["warmup_steps"]
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, lambda n: min((n + 1) / warmup, math.sqrt(warmup / (n + 1)))
        )
        self._device = self._parameters[0].device
        self._loss_of = torch.compile(self._mean_loss) if compiled else self._mean_loss
        self._averages = [parameter.detach().clone() for parameter in self._parameters]
        self._steps = 0

    def step(self, batch: Batch) -> None:
        source, target_in, target_out = (
            torch.from_numpy(ids).to(self._device).long() for ids in batch
        )
        self.model.train()
        self._loss_of(source, target_in, target_out).backward()
        nn.utils.clip_grad_norm_(self._parameters, self._config["clip_norm"], foreach=True)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._schedule.step()
        keep = min(self._config["average_decay"], self._steps / (self._steps + 9))
        with torch.no_grad():
            torch._foreach_lerp_(self._averages, self._parameters, 1 - keep)
        self._steps += 1

    def _mean_loss(
        self, source: torch.Tensor, target_in: torch.Tensor, target_out: torch.Tensor
    ) -> torch.Tensor:
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._autocast):
            logits = self.model(source, target_in)
        return self._loss(logits.flatten(0, 1).float(), target_out.flatten())

    def translate(self, sources: list[list[int]]) -> list[list[int]]:
        """Translate source ids with EOS by greedy search with the averaged weights."""
        self._swap()
        self.model.eval()
        translations: list[list[int]] = [[] for _ in sources]
        order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
        for begin in range(0, len(order), ROWS):
            rows = order[begin : begin + ROWS]
            ids = [torch.tensor(sources[i]) for i in rows]
            source = nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=PAD_ID)
            for i, found in zip(rows, self._search(source), strict=True):
                translations[i] = [token for token in found if token not in (PAD_ID, EOS_ID)]
        self._swap()
        return translations

    @torch.inference_mode()
    def _search(self, source: torch.Tensor) -> list[list[int]]:
        memory, is_padding = self.model.encode(source)
        target = torch.full((len(source), 1), BOS_ID)
        finished = torch.zeros(len(source), dtype=torch.bool)
        while target.shape[1] <= 2 * source.shape[1] + 10 and not finished.all():
            logits = self.model.decode(target, memory, is_padding)[:, -1]
            logits[:, [PAD_ID, UNK_ID, BOS_ID]] = -torch.inf
            token = torch.where(finished, PAD_ID, logits.argmax(dim=-1))
            target = torch.cat([target, token[:, None]], dim=1)
            finished |= token == EOS_ID
        return target[:, 1:].tolist()

    def _swap(self) -> None:
        """Swap weights and averaged weights; a second call restores them."""
        with torch.no_grad():
            for parameter, average in zip(self._parameters, self._averages, strict=True):
                held = parameter.clone()
                parameter.copy_(average)
                average.copy_(held)

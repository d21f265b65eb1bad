"""Random Marian models and their answers, by transformers; runs in the environment "marian".

- `python marian_peer.py make FOLDER SHAPE LINES` writes a model. Its SentencePiece models are
  trained on `LINES`, a JSON list of the lines of both languages. `SHAPE` is a JSON object with the
  fields of `Shape`.
- `python marian_peer.py answer FOLDER TEXTS` writes to `FOLDER/answers.json` the ids of `strings`,
  the logits of `pairs`, and the translations of `sentences` by greedy search and by a beam of 4.
  `TEXTS` is a JSON object with these three lists.
"""

import io
import json
import random
import sys
from pathlib import Path
from typing import Any, NamedTuple

import sentencepiece
import torch
from peer import write_json
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

BATCH = 32
SPREAD = 4.0  # of the weights in the blocks, times the root of the number of inputs


class Shape(NamedTuple):
    """Sizes of a random model."""

    width: int = 64
    inner: int = 128
    heads: int = 4
    encoder_layers: int = 2
    decoder_layers: int = 2
    activation: str = "swish"
    separate: bool = False  # two vocabularies
    tied: bool = True
    languages: tuple[str, ...] = ()
    pieces: int = 2500
    normalization: str = "nmt_nfkc"
    generation: dict[str, Any] = {}  # further entries of `generation_config.json`


def make(folder: Path, shape: Shape, lines: tuple[list[str], list[str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pieces = []
    for name, side in zip(("source", "target"), lines, strict=True):
        path = folder / f"{name}.spm"
        path.write_bytes(train(side, shape))
        model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        numbers = range(3, model.vocab_size())  # without <unk>, <s>, </s>
        # As if the vocabulary had been counted on other text: some pieces have no id.
        pieces.append([model.id_to_piece(i) for i in numbers if i % 97])
    if shape.separate:
        source, target = (vocabulary(side) for side in pieces)
        write_json(folder / "target_vocab.json", target)
    else:
        source = target = vocabulary([*shape.languages, *pieces[0], *pieces[1]])
    write_json(folder / "vocab.json", source)
    tokenizer = MarianTokenizer(
        str(folder / "source.spm"),
        str(folder / "target.spm"),
        str(folder / "vocab.json"),
        target_vocab_file=str(folder / "target_vocab.json") if shape.separate else None,
        separate_vocabs=shape.separate,
        source_lang="ja",
        target_lang="en",
    )
    tokenizer.save_pretrained(folder)
    model = random_model(shape, len(source), target)
    model.save_pretrained(folder)


def train(lines: list[str], shape: Shape) -> bytes:
    """SentencePiece model without byte fallback."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=shape.pieces,
        character_coverage=0.995,
        hard_vocab_limit=False,
        normalization_rule_name=shape.normalization,
        minloglevel=2,
    )
    return model.getvalue()


def vocabulary(tokens: list[str]) -> dict[str, int]:
    """Ids as Marian's: the end first, padding last."""
    tokens = list(dict.fromkeys(tokens))
    random.Random(len(tokens)).shuffle(tokens)
    return {token: i for i, token in enumerate(["</s>", "<unk>", *tokens, "<pad>"])}


def random_model(shape: Shape, source_size: int, target: dict[str, int]) -> MarianMTModel:
    """Model with weights so strong that translations depend on the source."""
    torch.manual_seed(1)
    padding = target["<pad>"]
    model = MarianMTModel(
        MarianConfig(
            vocab_size=source_size,
            decoder_vocab_size=len(target),
            d_model=shape.width,
            encoder_layers=shape.encoder_layers,
            decoder_layers=shape.decoder_layers,
            encoder_attention_heads=shape.heads,
            decoder_attention_heads=shape.heads,
            encoder_ffn_dim=shape.inner,
            decoder_ffn_dim=shape.inner,
            activation_function=shape.activation,
            scale_embedding=True,
            share_encoder_decoder_embeddings=not shape.separate,
            tie_word_embeddings=shape.tied,
            pad_token_id=padding,
            decoder_start_token_id=padding,
            max_position_embeddings=128,
            init_std=shape.width**-0.5,
        )
    )
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 1:
                weight.add_(0.1 * torch.randn_like(weight))
            elif ".layers." in name:
                spread = SPREAD / weight.shape[1] ** 0.5
                weight.copy_(spread * torch.randn_like(weight))
        model.final_logits_bias.copy_(0.5 * torch.randn_like(model.final_logits_bias))
        model.final_logits_bias[0, target["</s>"]] += 3.0  # so that translations end
    settings = {"max_length": 40, "num_beams": 4, "bad_words_ids": [[padding]]}
    for name, value in (settings | shape.generation).items():
        setattr(model.generation_config, name, value)
    return model


def answer(folder: Path, texts: dict[str, Any]) -> None:
    tokenizer = MarianTokenizer.from_pretrained(folder)
    model = MarianMTModel.from_pretrained(folder).eval()
    strings, sentences = texts["strings"], texts["sentences"]
    answers: dict[str, Any] = {
        "source_ids": tokenizer(strings)["input_ids"],
        "target_ids": tokenizer(text_target=strings)["input_ids"],
        "logits": [logits(tokenizer, model, *pair) for pair in texts["pairs"]],
    }
    for beams in (1, 4):
        answers[f"beam_{beams}"] = []
        for start in range(0, len(sentences), BATCH):
            inputs = tokenizer(sentences[start : start + BATCH], return_tensors="pt", padding=True)
            found = model.generate(**inputs, num_beams=beams)
            answers[f"beam_{beams}"] += tokenizer.batch_decode(found, skip_special_tokens=True)
    write_json(folder / "answers.json", answers)


@torch.no_grad()
def logits(
    tokenizer: MarianTokenizer, model: MarianMTModel, source: str, target: str
) -> list[list[float]]:
    """Logits of each token of a translation."""
    labels = tokenizer(text_target=[target], return_tensors="pt")["input_ids"]
    start = torch.tensor([[model.config.decoder_start_token_id]])
    given = torch.cat([start, labels[:, :-1]], dim=1)
    found = model(**tokenizer([source], return_tensors="pt"), decoder_input_ids=given).logits[0]
    return [[round(value, 6) for value in row] for row in found.tolist()]


if __name__ == "__main__":
    torch.set_num_threads(2)
    action, place, *given = sys.argv[1:]
    contents = [json.loads(Path(path).read_text(encoding="utf-8")) for path in given]
    if action == "make":
        make(Path(place), Shape(**contents[0]), contents[1])
    else:
        answer(Path(place), contents[0])

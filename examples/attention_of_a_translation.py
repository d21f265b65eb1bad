r"""Cross-attention weights of a translation over the source.

    python examples/attention_of_a_translation.py saved_models/ja-en \
        "昨日、友達と映画を見ました。" --png attention.png

The script prints, for each target piece, the source piece with the largest mean weight. The plot
has a heat map for each layer and head.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from keras_attn.translation import Translator
from keras_attn.translation.export.translator import Attention


def looked_at_most(attention: Attention) -> list[tuple[str, str, float]]:
    """Source piece with the largest attention weight for each target piece.

    The weights are the mean over layers and heads: the mean is closer to a word alignment than the
    weights of a single head.

    Returns:
        Target piece, source piece and weight, for each target piece.
    """
    mean = attention.weights.mean(axis=(0, 1))  # (T, S)
    best = mean.argmax(axis=-1)
    return [
        (piece, attention.source_pieces[source], float(mean[target, source]))
        for target, (piece, source) in enumerate(zip(attention.target_pieces, best, strict=True))
    ]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of an exported version or of all versions")
    parser.add_argument("text", help="text to translate")
    parser.add_argument("--png", type=Path, help="image file to write")
    arguments = parser.parse_args(argv)

    attention = Translator.load(arguments.model).attend(arguments.text)
    print(f"{arguments.text}\n{attention.translation}\n")
    for target, source, share in looked_at_most(attention):
        print(f"{target:<16}{share:>4.0%}  {source}")
    if arguments.png:
        from keras_attn.plots import plot_attention

        layers = {f"layer {i}": weights for i, weights in enumerate(attention.weights)}
        figure = plot_attention(layers, attention.target_pieces, attention.source_pieces)
        figure.savefig(arguments.png, dpi=120)


if __name__ == "__main__":
    main()

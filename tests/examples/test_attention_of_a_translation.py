"""The script says and draws what `Translator.attend` gives."""

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.export.translator import Attention

pytestmark = pytest.mark.slow

# Two layers, one head, three target pieces, two source pieces.
WEIGHTS = np.array(
    [[[[0.9, 0.1], [0.5, 0.5], [0.6, 0.4]]], [[[0.3, 0.7], [0.4, 0.6], [0.0, 1.0]]]], "float32"
)
SOURCE_PIECES, TARGET_PIECES = ["▁犬。", "</s>"], ["▁A", "▁dog", "</s>"]
LOOKED_AT_MOST = [("▁A", "▁犬。", 0.6), ("▁dog", "</s>", 0.55), ("</s>", "</s>", 0.7)]


def test_each_target_piece_has_the_source_piece_with_the_greatest_mean_weight(script):
    found = script.looked_at_most(Attention("A dog", SOURCE_PIECES, TARGET_PIECES, WEIGHTS))
    for row, expected in zip(found, LOOKED_AT_MOST, strict=True):
        assert row == (*expected[:2], pytest.approx(expected[2]))


def test_it_prints_the_translation_and_its_pieces(script, save_translator, tmp_path, capsys):
    def attend(text):
        return {
            "translation": tf.strings.join(["A dog (", text, ")"]),
            "source_pieces": tf.constant([SOURCE_PIECES]),
            "target_pieces": tf.constant([TARGET_PIECES]),
            "weights": tf.constant(WEIGHTS[None]),
        }

    save_translator(tmp_path / "ja-en" / "1", "attend", attend)
    picture = tmp_path / "attention.png"
    script.main([str(tmp_path / "ja-en"), "犬。", "--png", str(picture)])
    source, translation, empty, *rows = capsys.readouterr().out.splitlines()
    assert (source, translation, empty) == ("犬。", "A dog (犬。)", "")
    expected = [[piece, f"{share:.0%}", seen] for piece, seen, share in LOOKED_AT_MOST]
    assert [row.split() for row in rows] == expected
    assert picture.stat().st_size > 1000

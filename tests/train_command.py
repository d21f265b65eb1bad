"""The command `train.py` in its smallest form, and a corpus for it, shared by tests."""

import re
import sys

from processes import ROOT, run

SUBJECTS = {
    "犬": "the dog",
    "猫": "the cat",
    "鳥": "the bird",
    "父": "my father",
    "妹": "my sister",
}
PLACES = {"庭": "the garden", "駅": "the station", "店": "the shop", "川": "the river"}
ACTIONS = {
    "待っています": "is waiting",
    "歌っています": "is singing",
    "眠っています": "is sleeping",
    "遊んでいます": "is playing",
}
TINY = (
    "--minutes 0.15 --vocab-size 400 --num-encoder-layers 1 --num-decoder-layers 1 "
    "--num-hiddens 16 --ffn-num-hiddens 16 --num-heads 2 --batch-tokens 512 --max-length 32"
).split()


def command(*arguments):
    return [sys.executable, str(ROOT / "train.py"), *map(str, arguments)]


def trained(*arguments, **environment):
    """The ended process of a training, which must succeed."""
    ended = run(command(*arguments), **environment)
    assert ended.returncode == 0, ended.stderr
    return ended


def native_lines(text):
    """Levels, dates and times at the starts of lines of Abseil and TensorFlow."""
    return re.findall(r"^[IWEF]\d{4} |\[[IWEF] |absl::", text, re.MULTILINE)


def write_corpus(path):
    """Write pairs of simple sentences, made for these tests."""
    lines = [
        f"{s}は{p}で{a}。\t{es.capitalize()} {ea} at {ep}."
        for s, es in SUBJECTS.items()
        for p, ep in PLACES.items()
        for a, ea in ACTIONS.items()
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path

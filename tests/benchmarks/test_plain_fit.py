import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import plain_fit


class FakePeer:
    def __init__(self, *seconds):
        self._seconds = list(seconds)

    def ask(self, epoch):
        return {"seconds": self._seconds[epoch]}


def test_the_ratio_is_the_median_of_turns_without_the_first():
    peers = [FakePeer(90, 2, 4, 8), FakePeer(1, 1, 2, 8)]
    line = plain_fit.compare("float32", peers, num_turns=3)
    assert line == "float32: 12,288 and 24,576 tokens/s, new / old 2.00"

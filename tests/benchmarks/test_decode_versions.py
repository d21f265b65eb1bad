import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import decode_versions


class FakePeer:
    def __init__(self, seconds, says):
        self._seconds, self._says = seconds, says
        self.asked = []

    def ask(self, texts):
        self.asked += texts
        return {"texts": [self._says(text) for text in texts], "seconds": self._seconds}


def test_all_translate_the_same_sentences_and_are_compared_to_the_first():
    sentences = [str(number) for number in range(40)]
    peers = [
        FakePeer(0.2, str),
        FakePeer(0.1, str),
        FakePeer(0.4, lambda text: "" if text.endswith("0") else text),
    ]
    batches = decode_versions.batches_of(sentences, 8)
    assert len(batches) == 5 and batches[1][0] == "8"
    line = decode_versions.compare(peers, batches, num_turns=4)
    assert line.split(" | ") == [
        "   8 texts    200.0 ms",
        "2.00, 100.0% the same",
        "0.50, 90.0% the same",
    ]
    assert peers[0].asked == peers[1].asked == peers[2].asked
    assert len(peers[0].asked) == 5 * 2 * 8

import sys
from pathlib import Path

from keras_attn.translation.corpus.splits import Example

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import noisy_text

EXAMPLES = [
    Example(f"私は{i}番の箱を、開けますか。", (f"Will I open the box {i}?", f"Do I open {i}?"))
    for i in range(5)
]


def test_joined_examples_are_one_text_with_joined_references():
    first, second = noisy_text.joined(EXAMPLES, 2, "ja", "en")
    assert first.source == EXAMPLES[0].source + EXAMPLES[1].source
    assert first.references[1] == "Do I open 0? Do I open 1?"
    assert second.source == EXAMPLES[2].source + EXAMPLES[3].source
    one = [Example("はい。", ("Yes.",)), EXAMPLES[0]]
    assert noisy_text.joined(one, 2, "ja", "en")[0].references[1] == "Yes. Do I open 0?"


def test_a_model_that_reads_clean_text_only_loses_on_noise_and_a_perfect_one_does_not(capsys):
    answers = {example.source: example.references[0] for example in EXAMPLES}
    for number in noisy_text.NUMBERS:
        longer = noisy_text.joined(EXAMPLES, number, "ja", "en")
        answers |= {example.source: example.references[0] for example in longer}

    def reads_clean(texts):
        return [answers.get(text, "What?") for text in texts]

    def reads_digits(texts):
        lists = [[int(c) for c in text if c.isdigit()] for text in texts]
        return [" ".join(EXAMPLES[i].references[0] for i in numbers) for numbers in lists]

    noisy_text.report([reads_clean, reads_digits], EXAMPLES, "ja", "en")
    rows = {}
    for line in capsys.readouterr().out.splitlines():
        changed, *scores, name = line.strip().split(maxsplit=3)
        rows[name] = (changed, *map(float, scores))
    assert rows["clean"] == ("0%", 100, 100)
    assert rows["joined by 3"] == rows["joined by 2, apart"] == ("100%", 100, 100)
    for name in ("leave_out_end", "write_kana", "any kind"):
        changed, clean_only, perfect = rows[name]
        assert changed == "100%" and clean_only < 50 and perfect == 100
    assert rows["write_other_kana"] == ("0%", 100, 100)

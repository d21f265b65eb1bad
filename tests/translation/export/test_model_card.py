from keras_attn.translation.config import Config
from keras_attn.translation.corpus.held_out import HeldOut
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.evaluate import evaluate
from keras_attn.translation.export import model_card
from keras_attn.translation.export.examples import SentenceExample, write
from keras_attn.translation.versions import EXTRA


def test_card_says_what_the_model_is_how_good_and_how_to_ask_it(tmp_path):
    examples = [Example("文", ("the sentence is here",))]
    details = {
        "credit": "Sentences: <Somebody>",
        "corpus": {"train": 12345},
        "training": {"epochs": 2.5, "parameters": 6789},
    }
    report = evaluate(
        lambda texts: ["the sentence is here"] * len(texts),
        [*examples, Example("別の文", ("no",))],
        "en",
        corpora={"tatoeba": [0], "my_words.tsv": [1]},
        held_out=[HeldOut("news.tsv", examples)],
        details=details,
    )
    config = Config(data="/somewhere/my words.tsv + tatoeba=0.5", beam_size=3)
    folder = tmp_path / "7"
    (folder / EXTRA).mkdir(parents=True)
    write(folder / EXTRA, [SentenceExample("これは|です。", "This is it.")])
    model_card.write(folder, config, report)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# Translator from ja to en\n")
    assert (
        "6,789 parameters" in card
        and "12,345 sentence pairs of `my words.tsv + tatoeba=0.5`" in card
    )
    assert r"Sentences: \<Somebody\>" in card
    assert "\n- BLEU " in card and "\n- Number accuracy n/a" in card
    assert "\n- tatoeba, 1 sentence: BLEU 100.0" in card
    assert "\n- my\\_words.tsv, 1 sentence: BLEU 0.0" in card
    assert "\n- Held out, news.tsv, 1 sentence: BLEU 100.0" in card
    assert "\n| これは\\|です。 | This is it. |\n" in card
    assert 'tf.saved_model.load("7")' in card
    assert "`translations (B, 3)`" in card
    assert "/somewhere" not in card

from keras_attn.translation.config import Config
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.evaluate import evaluate
from keras_attn.translation.export import model_card


def test_card_says_what_the_model_is_how_good_and_how_to_ask_it(tmp_path):
    examples = [Example("文", ("the sentence is here",))]
    details = {
        "credit": "Sentences: <Somebody>",
        "corpus": {"train": 12345},
        "training": {"epochs": 2.5, "parameters": 6789},
    }
    report = evaluate(lambda texts: ["the sentence is here"], examples, "en", details=details)
    config = Config(data="/somewhere/my words.tsv + tatoeba=0.5", beam_size=3)
    folder = tmp_path / "7"
    folder.mkdir()
    model_card.write(folder, config, report)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# Translator from ja to en\n")
    assert (
        "6,789 parameters" in card
        and "12,345 sentence pairs of `my words.tsv + tatoeba=0.5`" in card
    )
    assert r"Sentences: \<Somebody\>" in card
    assert "- BLEU 100.0" in card
    assert 'tf.saved_model.load("7")' in card
    assert "`translations (B, 3)`" in card
    assert "/somewhere" not in card

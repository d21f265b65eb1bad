import yaml

from keras_attn.translation.config import Config
from keras_attn.translation.corpus.splits import Example, HeldOut
from keras_attn.translation.evaluation import model_card
from keras_attn.translation.evaluation.evaluate import evaluate
from keras_attn.translation.export.examples import SentenceExample, write
from keras_attn.translation.versions import EXTRA


def test_card_says_what_the_model_is_how_good_and_how_to_ask_it_in_the_form_of_model_hubs(tmp_path):
    examples = [Example("文", ("the sentence is here",))]
    details = {
        "credit": "Sentences: <Somebody>",
        "date": "2026-11-26",
        "machine": "a processor",
        "versions": {"keras_attn": "9.8", "keras": "7.6"},
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
    folder = tmp_path / "ja-en" / "7"
    (folder / EXTRA).mkdir(parents=True)
    write(folder / EXTRA, [SentenceExample("これは|です。", "This is it.")])
    model_card.write(folder, config, report)
    card = (folder / "README.md").read_text(encoding="utf-8")
    _, front_matter, text = card.split("---\n", 2)
    found = yaml.safe_load(front_matter)
    assert found["language"] == ["ja", "en"] and found["pipeline_tag"] == "translation"
    assert found["license"] == "other"  # one of the corpora is a file
    (result,) = found["model-index"][0]["results"]
    assert result["dataset"]["name"] == "test split of my words.tsv + tatoeba=0.5"
    assert [metric["type"] for metric in result["metrics"]] == ["bleu", "chrf", "ter"]
    assert 0 < result["metrics"][0]["value"] < 100
    assert text.startswith("\n# Translator from ja to en\n")
    for text in (
        "6,789 parameters",
        "12,345 sentence pairs of `my words.tsv + tatoeba=0.5`",
        r"Sentences: \<Somebody\>",
        "\n| BLEU | ",
        "\n| number accuracy | n/a",
        "\n| tatoeba | 1 | 100.0",
        "\n| my\\_words.tsv | 1 | 0.0",
        "\n| news.tsv, held out | 1 | 100.0",
        'tf.saved_model.load("ja-en/7")',
        "keras-attn serve ja-en\n",
        "`translations (B, 3)`",
        "`is_uncertain (B,)`, `is_other_language (B,)` |",
        "\n## Intended use and limits\n",
        "\n| date | 2026-11-26 |\n| hardware | a processor |\n",
        "\n| versions | keras\\_attn 9.8, keras 7.6 |\n",
        "\n| training pairs | 12,345 |\n",
    ):
        assert text in card
    assert "/somewhere" not in card
    good = card.index("\n## Good examples\n")
    bad = card.index("\n## Bad examples\n")
    assert good < card.index("\n| これは\\|です。 | This is it. |\n") < bad
    assert bad < card.index("\n| 別の文 | the sentence is here | no |\n")


def test_licence_follows_from_the_corpora(tmp_path):
    report = evaluate(lambda texts: texts, [Example("a", ("a",))], "en")
    for data, licence in (
        ("everyday", "apache-2.0"),
        ("tatoeba + everyday=0.4", "cc-by-2.0"),
        ("tatoeba + own.tsv", "other"),
        ("tfds:opus", "other"),
        ("kftt=2 + everyday", "cc-by-sa-3.0"),
        ("kftt + tatoeba + jesc", "cc-by-sa-4.0"),
        ("opus:Books", "other"),
    ):
        model_card.write(tmp_path, Config(data=data), report)
        card = (tmp_path / "README.md").read_text(encoding="utf-8")
        assert f'\nlicense: "{licence}"\n' in card

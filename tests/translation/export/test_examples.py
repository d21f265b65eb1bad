import json

from keras_attn.translation.export import examples
from keras_attn.translation.export.examples import FILE, NUM_EXAMPLES, choose, write

SENTENCES = examples._SENTENCES["ja", "en"]


def test_only_sentences_with_an_accepted_translation_are_chosen():
    answers = dict.fromkeys(SENTENCES, "Nonsense.")
    answers["これはいくらですか。"] = "How much is this?"
    answers["お誕生日おめでとうございます。"] = "happy birthday to you!"
    found = choose(lambda texts: [answers[text] for text in texts], "ja", "en")
    assert [example.source for example in found] == [
        "これはいくらですか。",
        "お誕生日おめでとうございます。",
    ]
    assert found[1].translation == "happy birthday to you!"


def test_contractions_do_not_count():
    answers = {text: accepted[0] for text, accepted in SENTENCES.items()}
    answers["おはようございます。今日は暑いですね。"] = "Good morning. It is hot today, is not it?"
    found = choose(lambda texts: [answers[text] for text in texts], "ja", "en")
    assert len(found) == NUM_EXAMPLES
    assert "Good morning. It is hot today, is not it?" in [e.translation for e in found]


def test_languages_without_written_sentences_have_no_examples():
    assert choose(lambda texts: texts, "en", "ja") == []


def test_examples_are_written_as_a_list(tmp_path):
    write(tmp_path, [examples.SentenceExample("猫。", "A cat.")])
    record = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    assert record == [{"source": "猫。", "translation": "A cat."}]

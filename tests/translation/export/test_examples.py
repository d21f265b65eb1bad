import json

from keras_attn.translation.export import examples
from keras_attn.translation.export.examples import FILE, NUM_EXAMPLES, choose, read, write

ROWS = [row.split("\t") for row in examples._SENTENCES.read_text("utf-8").splitlines()]
SENTENCES = {row[2]: row[3] for row in ROWS}


def test_only_sentences_with_an_accepted_translation_are_chosen():
    answers = dict.fromkeys(SENTENCES, "Nonsense.")
    answers["これはいくらですか。"] = "How much is this?"
    answers["お誕生日おめでとうございます。"] = "happy birthday to you!"
    found = choose(lambda texts: [answers[text] for text in texts], "ja", "en")
    right = {text: answer for text, answer in answers.items() if answer != "Nonsense."}
    assert {example.source: example.translation for example in found} == right
    assert len(found) == 2
    assert choose(lambda texts: texts, "en", "ja") == []  # none were written


def test_contractions_do_not_count():
    answers = dict(SENTENCES)
    long = "Good morning. It is hot today, is not it?"
    answers["おはようございます。今日は暑いですね。"] = long
    found = choose(lambda texts: [answers[text] for text in texts], "ja", "en")
    assert len(found) == NUM_EXAMPLES
    assert long in [example.translation for example in found]


def test_translations_whose_words_are_whole_pieces_come_first():
    def num_pieces(translation):
        return len(translation) if translation.startswith("Excuse") else 1

    found = choose(lambda texts: [SENTENCES[text] for text in texts], "ja", "en", num_pieces)
    assert [example.source for example in found] == list(SENTENCES)[1 : NUM_EXAMPLES + 1]


def test_examples_are_written_as_a_list(tmp_path):
    assert read(tmp_path) == []  # a version may bring none
    some = [examples.SentenceExample("猫。", "A cat.")]
    write(tmp_path, some)
    assert read(tmp_path) == some
    record = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    assert record == [{"source": "猫。", "translation": "A cat."}]

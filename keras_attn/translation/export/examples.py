"""Example sentences of an exported version: those of a written list that the model translates well.

The page, the server and the model card show these, so that a first look is true to the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from keras_attn.languages import code_of

FILE = "examples.json"
NUM_EXAMPLES = 6

# Sentences by source and target language, the most inviting first, with the translations that a
# reader of both languages accepts; case, contractions and punctuation do not count.
_SENTENCES: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {
    ("ja", "en"): {
        "すみません、駅はどこですか。": (
            "Excuse me, where is the station?",
            "Excuse me, where's the train station?",
        ),
        "昨日、友達と映画を見ました。": (
            "I watched a movie with my friend yesterday.",
            "I watched a movie with a friend yesterday.",
            "I saw a movie with my friend yesterday.",
            "I saw a movie with a friend yesterday.",
            "Yesterday I watched a movie with my friend.",
            "Yesterday, I saw a movie with a friend.",
            "I watched a movie with my friends yesterday.",
            "I saw a movie with my friends yesterday.",
        ),
        "この本はとても面白かったです。": (
            "This book was very interesting.",
            "This book was really interesting.",
        ),
        "明日は早く起きなければなりません。": (
            "I have to get up early tomorrow.",
            "I must get up early tomorrow.",
            "I have to wake up early tomorrow.",
        ),
        "おはようございます。今日は暑いですね。": (
            "Good morning. It's hot today, isn't it?",
            "Good morning. It's hot today.",
            "Good morning. Today is hot, isn't it?",
        ),
        "妹は毎朝七時に起きます。": (
            "My younger sister gets up at seven every morning.",
            "My sister gets up at seven every morning.",
            "My younger sister gets up at 7 every morning.",
            "My sister gets up at seven o'clock every morning.",
            "My younger sister gets up at seven o'clock every morning.",
            "My younger sister wakes up at seven every morning.",
        ),
        "駅まで歩いて十分かかります。": (
            "It takes ten minutes to walk to the station.",
            "It takes 10 minutes to walk to the station.",
            "It takes ten minutes on foot to the station.",
            "It takes ten minutes to get to the station on foot.",
        ),
        "これはいくらですか。": ("How much is this?", "How much does this cost?"),
        "私の名前は田中です。": ("My name is Tanaka.", "My name is Mr. Tanaka."),
        "コーヒーを一杯ください。": (
            "A cup of coffee, please.",
            "Please give me a cup of coffee.",
            "Give me a cup of coffee, please.",
            "I'd like a cup of coffee, please.",
            "I'd like a cup of coffee.",
        ),
        "もう少しゆっくり話してください。": (
            "Please speak a little more slowly.",
            "Please speak more slowly.",
            "Could you speak a little more slowly?",
            "Please talk a little more slowly.",
        ),
        "日本に行ったことがありますか。": (
            "Have you ever been to Japan?",
            "Have you been to Japan?",
            "Have you ever gone to Japan?",
        ),
        "母は台所で料理をしています。": (
            "My mother is cooking in the kitchen.",
            "My mother is cooking in the kitchen now.",
            "Mother is cooking in the kitchen.",
        ),
        "今、何時ですか。": ("What time is it?", "What time is it now?"),
        "お誕生日おめでとうございます。": ("Happy birthday.", "Happy birthday to you."),
        "雨が降っているので、家にいます。": (
            "I'm at home because it's raining.",
            "It's raining, so I'm at home.",
            "I'm staying home because it's raining.",
            "It's raining, so I'll stay home.",
            "I'll stay home because it's raining.",
            "I stay home because it's raining.",
        ),
        "彼は英語を上手に話します。": (
            "He speaks English well.",
            "He speaks English fluently.",
            "He speaks good English.",
            "He is good at speaking English.",
        ),
        "週末は何をしますか。": (
            "What do you do on weekends?",
            "What are you going to do this weekend?",
            "What will you do this weekend?",
            "What are you doing this weekend?",
            "What do you do on the weekend?",
            "What will you do on the weekend?",
            "What are you going to do on the weekend?",
        ),
    },
}

_CONTRACTIONS = {
    r"n't\b": " not", r"'m\b": " am", r"'re\b": " are", r"'ll\b": " will", r"'ve\b": " have",
    r"\b(it|that|what|where|who|he|she|there)'s\b": r"\1 is",
}  # fmt: skip


class SentenceExample(NamedTuple):
    """Sentence with its translation by an exported model."""

    source: str
    translation: str


def choose(
    translate: Callable[[list[str]], Sequence[str]], source: str, target: str
) -> list[SentenceExample]:
    """The first `NUM_EXAMPLES` sentences that a model translates as a reader accepts.

    Args:
        translate: Function from texts to translations.
        source: Language code of the source text.
        target: Language code of the translations.

    Returns:
        Sentences with their translations; none for languages without a written list.

    Example:

    >>> choose(lambda texts: ["How much's this"] * len(texts), "ja", "en")
    []
    >>> choose(lambda texts: ["What time is it now?"] * len(texts), "ja", "en")
    [SentenceExample(source='今、何時ですか。', translation='What time is it now?')]
    """
    accepted = _SENTENCES.get((code_of(source), code_of(target)), {})
    if not accepted:
        return []
    found = zip(accepted, translate(list(accepted)), strict=True)
    good = [
        SentenceExample(sentence, translation)
        for sentence, translation in found
        if plain(translation) in map(plain, accepted[sentence])
    ]
    return good[:NUM_EXAMPLES]


def write(folder: Path, examples: Sequence[SentenceExample]) -> None:
    """Write examples to `FILE` in a folder."""
    record = [example._asdict() for example in examples]
    text = json.dumps(record, ensure_ascii=False, indent=2)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def plain(text: str) -> str:
    """Text in lower case, with contractions written out, without punctuation, for comparison."""
    text = text.lower().replace("’", "'")
    for pattern, whole in _CONTRACTIONS.items():
        text = re.sub(pattern, whole, text)
    return " ".join(re.findall(r"\w+", text))

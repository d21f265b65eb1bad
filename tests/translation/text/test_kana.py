from keras_attn.translation.text.kana import Kana
from keras_attn.translation.text.placeholders import PLACEHOLDERS

KANA = Kana(
    {"朝食": "ちょうしょく", "食べ": "たべ", "降り": "おり", "銀": "ぎん", "図書館": "としょかん"}
    | {"会": "かい", "方": "ほう", "金": "かね", "詩": "し", "仕事": "JMdict"}
)


def test_each_kanji_gets_the_reading_of_its_place():
    for text, expected in (
        ("今日は友達と図書館に行った。", "きょうはともだちととしょかんにいった。"),
        ("朝食は朝食べる", "ちょうしょくはあさたべる"),
        ("雨が降ります。駅で降ります", "あめがふります。えきでおります"),
        ("お金と銀", "おかねとぎん"),
        ("何時に何を食べますか。何ですか", "なんじになにをたべますか。なんですか"),
        ("12人のフランス人と四人の人", "12にんのフランスじんとよにんのひと"),
        ("3か月前の10時半", "3かげつまえの10じはん"),
        ("読み方はこの方がいい", "よみかたはこのほうがいい"),
        ("仕事", "しごと"),  # ours comes first
        ("Tシャツ", "Tシャツ"),
    ):
        assert KANA.write(text) == expected


def test_a_text_with_an_unknown_kanji_or_counter_is_not_written():
    for text in ("薔薇が好き", "私は詩図", "3鯨", "2人"):
        assert KANA.write(text) == ""


def test_placeholders_keep_their_marks():
    one, other = PLACEHOLDERS[0], PLACEHOLDERS[7]
    assert KANA.write(f"{one}時分に{other}円") == f"{one}時分に{other}えん"

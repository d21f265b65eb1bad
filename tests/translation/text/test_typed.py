import re

import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.corpus.cleaning import clean_text
from keras_attn.translation.text.typed import plain, plain_in_graph


def in_graph(texts, language):
    return [text.decode() for text in plain_in_graph(tf.constant(texts), language).numpy()]


def test_typed_text_gets_its_plain_form():
    for typed, expected in (
        ("明日 は 休み です。", "明日は休みです。"),
        ("今日は　暑い", "今日は暑い"),
        ("ｹﾞｰﾑとﾊﾟﾝとＮＨＫ１２％", "ゲームとパンとNHK12%"),
        ("すごい!!!", "すごい!"),
        ("本当!?!", "本当?"),
        ("そうです。。。", "そうです。"),
        ("えっと、駅はどこですか。", "駅はどこですか。"),
        ("あのー…すみません。", "すみません。"),
        ("忘れたwww", "忘れた"),
        ("忘れた（笑）。", "忘れた。"),
        ("そうだね笑", "そうだね"),
        ("いいですよ〜。", "いいですよ。"),
        ("令和6年と昭和五十年と平成元年", "2024年と1975年と1989年"),
        *(
            pair.split("→")
            for pair in "すごーい。おもしろ〜い→すごい。おもしろい ありがとー!→ありがとう! "
            "でーす→です そーですねー→そうですね 行ったー→行った すごぃよぉ→すごいよ "
            "知らねぇ→知らねえ やった☆→やった すっっごく楽しい♪→すごく楽しい うん、、、→うん... "
            "そうか・・・→そうか... そうか…。→そうか... です。。→です。 えー、本当？→本当? "
            "いいね(^_^)v→いいね 疲れた(T_T)→疲れた やった^^→やった".split()
        ),
        *(
            pair.split("→")
            for pair in "暑いですwww明日も→暑いです。明日も 最高笑→最高 眠いzzz→眠い "
            "なにそれー→なにそれ ねむいーーー→ねむい 行きたーい→行きたい "
            "待ってぇ→待って まぁいいか→まあいいか えーー！→えー! "
            "すっごーい→すごい おやすみなさい☆彡→おやすみなさい ちょー眠い→超眠い "
            "はーい→はい すごくかわいー→すごくかわいい 彼は微笑→彼は微笑 "
            "疲れた…orz→疲れた... ｱｼﾀﾊﾔｽﾐﾃﾞｽｶ?→あしたはやすみですか? "
            "パスワード→パスワード メリークリスマス→メリークリスマス "
            "2キロ半→2.5キロ 二メートル半だ→2.5メートルだ 1杯半の水→1.5杯の水 "
            "10キロ半額→10キロ半額".split()
        ),
        ("晴れ です 。", "晴れです。"),
        ("ﾜｽﾚﾏｼﾀ!", "わすれました!"),
        ("楽しい( ´∀｀ )", "楽しい"),
        ("ごめんm(_ _)m", "ごめん"),
        # no drawn-out sounds, faces or ends
        *(
            (kept, kept)
            for kept in ("3〜5日", "コーヒー", "こーひー", "評価★★★", "(a)と(-)", "1..5")
        ),
        ("www", "www"),
        *(
            (text, text)
            for text in ("彼は苦笑。", "着いた", "みんなが", "昭和30年代に", "3〜5時", "9時〜")
        ),
        ("お腹すいた〜", "お腹すいた"),
        ("まーすごい", "まーすごい"),
        ("9時～17時で￥500", "9時〜17時で¥500"),
        ("Tom Brown と 会う", "Tom Brown と会う"),
    ):
        assert plain(clean_text(typed), "ja") == expected
        assert in_graph([typed], "ja") == [expected]
    assert plain("Yes!!! www", "en") == "Yes!!! www"


CHARACTERS = (
    "あいっー〜。、!?笑w( )1年令和平成昭元アｱﾊﾞﾟﾞＡ９％Ｗ漢字\u3000a-すごぃよぉねぇ♪☆・….^_;でそ"
    "デスマ2二キロ半杯額た"
)


@settings(max_examples=10, derandomize=True, deadline=None)
@given(st.lists(st.text(CHARACTERS, max_size=12).map(str.strip), min_size=30))
def test_training_and_graph_write_the_same_plain_form(texts):
    texts = [" ".join(text.replace("\u3000", " ").split()) for text in texts]
    texts = [text for text in texts if not re.search("(?<![ｦ-ﾝ])[ﾞﾟ]|[゙゚]", text)]
    for language in ("ja", "en"):
        assert in_graph(texts, language) == [plain(clean_text(text), language) for text in texts]

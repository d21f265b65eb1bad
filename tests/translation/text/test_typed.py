import re

import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.corpus.cleaning import clean_text
from keras_attn.translation.text.typed import plain, plain_in_graph, usual_case_in_graph


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
        ("プラン2 年額、3 分割、10 年間、5 分", "プラン2 年額、3 分割、10年間、5分"),
        ("2〜3千円、丸の内2-3千代田", "2千〜3千円、丸の内2-3千代田"),
        *(
            tuple(pair.split("→"))
            for pair in (
                "今 日 は 忙 し い で す→今日は忙しいです",
                "了解です 明日の会議→了解です。明日の会議",
                "えっと 駅はどこ→駅はどこ",
                "え〜と、んー、はい→んー、はい",
                "忘れてた（笑）明日持ってく→忘れてた。明日持ってく",
                "終わった笑 帰ろう→終わった。帰ろう",
                "忘れた(笑→忘れた",
                "忘れた笑😂→忘れた😂",
                "楽しみ〜😊→楽しみ😊",
                "草wwwって感じ→草って感じ",
            )
        ),
        *(
            pair.split("→")
            for pair in "ｱﾘｶﾞﾄｳｺﾞｻﾞｲﾏｽ→ありがとうございます メルセデス→メルセデス "
            "トーマス→トーマス ワスレマシタ!→わすれました! "
            "アシタハヤスミデス→あしたはやすみです ちょーだい!→ちょーだい! "
            "いいな〜いつ行ったの?→いいな〜いつ行ったの? いたっ!→いたっ! だめっ!→だめ! "
            "2時間〜→2時間〜 20代〜→20代〜 うれし〜→うれしい ガンダムW→ガンダムW "
            "くださーい→ください すみませーん→すみません 田中さーん→田中さん 了解ー→了解 "
            "おめでとー→おめでとう うるせぇ→うるせえ さぁ。→さあ。".split()
        ),
    ):
        assert plain(clean_text(typed), "ja") == expected
        assert in_graph([typed], "ja") == [expected]
    for typed, expected in (
        ("Yes!!! www", "Yes!!! www"),
        ("US$20, $1.2 Million", "$20, $1.2 million"),
        ("$3-5 million, $1-$2 million", "$3 million-$5 million, $1 million-$2 million"),
        ("10 to 20 million, $10-15k", "10 million to 20 million, $10k-$15k"),
        ("Two or three, two or three million", "Two or three, two million or three million"),
        ("$10-20, 30mins, 10k people", "$10-$20, 30 mins, 10 thousand people"),
        ("3-5pm, 10-11am, 12-1pm, 9-5pm", "3pm-5pm, 10am-11am, 12pm-1pm, 9 - 5pm"),
        ("1 1/2 cups at half-past two", "1.5 cups at half past two"),
        *((kept, kept) for kept in ("https://a.com/3days?t=3-5pm", "see log_30mins.txt", "$1.50")),
    ):
        assert plain(typed, "en") == in_graph([typed], "en")[0] == expected


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


PARTS = "3 5 10 $ - to and or million mil pm am k people half-past two three 1/2 days . , /".split()


@settings(max_examples=10, derandomize=True, deadline=None)
@given(st.lists(st.lists(st.sampled_from([*PARTS, " "]), max_size=9).map("".join), min_size=30))
def test_training_and_graph_write_the_same_plain_english(texts):
    texts = [" ".join(text.split()) for text in texts]
    assert in_graph(texts, "en") == [plain(text, "en") for text in texts]


def test_english_gets_the_capitals_of_print():
    for text, expected in (
        ("THANK YOU VERY MUCH!!!", "Thank you very much!!!"),
        ("I'M HERE, AND I STAY", "I'm here, and I stay"),
        ("where is the station", "Where is the station"),
        ("dog", "dog"),
        ("NASA", "NASA"),
        ("iPhone is new", "iPhone is new"),
        ("example.com is down", "example.com is down"),
        ("SEE {NAME} AT 5", "SEE {NAME} AT 5"),
        ("Mr. i, i.e. me", "Mr. I, i.e. me"),
        ("", ""),
    ):
        found = usual_case_in_graph(tf.constant([text]), "en").numpy()[0].decode()
        assert found == expected
    assert usual_case_in_graph(tf.constant(["a cat"]), "ja").numpy()[0] == b"a cat"

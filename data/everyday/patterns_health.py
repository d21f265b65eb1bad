"""Patterns of health, loss and damage: what a traveller says when something is wrong."""

from keras_attn_data.everyday import english
from keras_attn_data.everyday.drawing import SPEAKER, Draw, Drawn, Pair, tell
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word

_PAINS = (
    ("頭", "have", "a headache"),
    ("歯", "have", "a toothache"),
    ("お腹", "have", "a stomachache"),
    ("おなか", "have", "a stomachache"),
    ("のど", "have", "a sore throat"),
    ("喉", "have", "a sore throat"),
    ("背中", "have", "a backache"),
    ("腰", "have", "lower back pain"),
)
_LIMBS = (
    ("足", "{own} leg"),
    ("腕", "{own} arm"),
    ("手", "{own} hand"),
    ("目", "{own} eye"),
    ("耳", "{own} ear"),
    ("ひざ", "{own} knee"),
    ("首", "{own} neck"),
    ("肩", "{own} shoulder"),
    ("指", "{own} finger"),
    ("右手", "{own} right hand"),
    ("左足", "{own} left leg"),
    ("胸", "{own} chest"),
)
_SYMPTOMS = (
    (Word("熱がある", "aru"), Phrase("have", "a fever")),
    (Word("風邪をひいている", "ichidan"), Phrase("have", "a cold")),
    (Word("せきが出る", "ichidan"), Phrase("have", "a cough")),
    (Word("吐き気がする", "suru"), Phrase("feel", "nauseous")),
    (Word("めまいがする", "suru"), Phrase("feel", "dizzy")),
    (Word("寒気がする", "suru"), Phrase("have", "chills")),
    (Word("食欲がない", "i"), Phrase("have", "no appetite")),
    (Word("鼻水が出る", "ichidan"), Phrase("have", "a runny nose")),
    (Word("花粉症", "noun"), Phrase("have", "hay fever")),
    (Word("二日酔い", "noun"), Phrase("have", "a hangover")),
)


def ill(draw: Draw) -> Drawn:
    """頭が痛いです。熱があります。"""
    who = draw.who(0.6)
    if who.ja == "私たち":
        return ill(draw)
    me = who.topic or draw.choose(("", "", "私は"))
    pairs = []
    if draw.chance(0.35):
        ja, have, en = draw.choose(_PAINS)
        word, phrase = Word(f"{ja}が痛い", "i"), Phrase(have, en)
    elif draw.chance(0.5):
        ja, en = draw.choose(_LIMBS)
        owner = english.possessive(who.en.text)
        word, own = Word(f"{ja}が痛い", "i"), en.replace("{own}", owner)
        hurt = Person(own, "3n")
        for mood in draw.moods(3, [who], questions=False, negatives=False):
            for past in (False, True):
                text = tell(hurt, Phrase("hurt"), "past" if past else "present", mood)
                pairs.append(Pair(me + mood.end(word, past), text))
        if not who.ja:
            pairs.append(Pair(f"{ja}をけがしました。", f"I hurt my {own.removeprefix('my ')}."))
            pairs.append(Pair(f"{ja}が痛いですか。", f"Does your {own.removeprefix('my ')} hurt?"))
            pairs.append(
                Pair(f"{ja}を切ってしまいました。", f"I cut my {own.removeprefix('my ')}.")
            )
        return Drawn((who.ja, ja), draw.typed(draw.sample(pairs, 3)))
    else:
        word, phrase = draw.choose(_SYMPTOMS)
    for mood in draw.moods(3, [who], negatives=False):
        past = draw.chance(0.3)
        start = who.topic if mood.question else me
        text = tell(who.asked(mood.question), phrase, "past" if past else "present", mood)
        pairs.append(Pair(start + mood.end(word, past), text))
    return Drawn((who.ja, word.text), draw.typed(pairs))


_THINGS = (
    ("かぎ", "key"),
    ("鍵", "key"),
    ("切符", "ticket"),
    ("荷物", "luggage"),
    ("クレジットカード", "credit card"),
    ("携帯電話", "cell phone"),
    ("携帯", "cell phone"),
    ("パスポート", "passport"),
    ("財布", "wallet"),
    ("スマホ", "phone"),
    ("傘", "umbrella"),
    ("かばん", "bag"),
    ("カメラ", "camera"),
    ("眼鏡", "glasses"),
    ("時計", "watch"),
    ("スーツケース", "suitcase"),
    ("帽子", "hat"),
    ("自転車", "bicycle"),
    ("ノート", "notebook"),
    ("パソコン", "computer"),
    ("上着", "jacket"),
    ("充電器", "charger"),
    ("イヤホン", "earphones"),
    ("指輪", "ring"),
    ("保険証", "insurance card"),
    ("薬", "medicine"),
)
_WHERE = (
    ("", ""),
    ("", ""),
    ("電車に", "on the train"),
    ("バスに", "on the bus"),
    ("タクシーに", "in the taxi"),
    ("ホテルに", "at the hotel"),
    ("部屋に", "in the room"),
    ("レストランに", "at the restaurant"),
    ("家に", "at home"),
)


def lost(draw: Draw) -> Drawn:
    """パスポートをなくしました。電車に傘を忘れました。"""
    (ja, en), (where_ja, where_en) = draw.choose(_THINGS), draw.choose(_WHERE)
    many = en == "earphones" or en == "glasses"
    me = draw.choose(("", "", "私は"))
    be, were = ("are", "were") if many else ("is", "was")
    pairs = [
        Pair(f"{me}{ja}をなくしました。", f"I lost my {en}."),
        Pair(f"{me}{ja}をなくしてしまった。", f"I lost my {en}."),
        Pair(
            f"{me}{where_ja}{ja}を忘れました。",
            english.sentence(f"I {'left' if where_en else 'forgot'} my {en} {where_en}"),
        ),
        Pair(
            f"{me}{where_ja}{ja}を忘れてしまいました。",
            english.sentence(f"I {'left' if where_en else 'forgot'} my {en} {where_en}"),
        ),
        Pair(f"{ja}が見つかりません。", f"I can't find my {en}."),
        Pair(f"{ja}が見つかりました。", f"I found my {en}."),
        Pair(f"{ja}を盗まれました。", f"My {en} {were} stolen."),
        Pair(f"私の{ja}はどこですか。", f"Where {be} my {en}?"),
        Pair(f"私の{ja}を見ませんでしたか。", f"Have you seen my {en}?"),
        Pair(f"{ja}を落としました。", f"I dropped my {en}."),
        Pair(f"{ja}を忘れないでください。", f"Please don't forget your {en}."),
        Pair(f"{ja}を見せてください。", f"Please show me your {en}."),
    ]
    if ja == "薬":
        pairs = [p for p in pairs if "stolen" not in p.en]
    return Drawn((ja, where_ja), draw.typed(draw.sample(pairs, 4)))


_MACHINES = (
    ("エアコン", "air conditioner"),
    ("コーヒーメーカー", "coffee maker"),
    ("テレビ", "television"),
    ("シャワー", "shower"),
    ("電気", "light"),
    ("パソコン", "computer"),
    ("プリンター", "printer"),
    ("洗濯機", "washing machine"),
    ("冷蔵庫", "refrigerator"),
    ("電話", "phone"),
    ("鍵", "lock"),
    ("ドライヤー", "hair dryer"),
    ("エレベーター", "elevator"),
    ("車", "car"),
    ("自転車", "bicycle"),
    ("時計", "clock"),
    ("コピー機", "copier"),
    ("カメラ", "camera"),
    ("ストーブ", "stove"),
    ("掃除機", "vacuum cleaner"),
    ("扇風機", "electric fan"),
)


_ROOM, _KITCHEN, _OFFICE = (
    ("部屋の", " in the room"),
    ("台所の", " in the kitchen"),
    ("事務所の", " in the office"),
)
# Where a machine stands; "" is anywhere.
_ROOMS = {
    "エアコン": (("", ""), _ROOM, _OFFICE),
    "テレビ": (("", ""), _ROOM),
    "シャワー": (("", ""), _ROOM),
    "電気": (("", ""), _ROOM, _KITCHEN, _OFFICE),
    "パソコン": (("", ""), _OFFICE),
    "プリンター": (("", ""), _OFFICE),
    "冷蔵庫": (("", ""), _ROOM, _KITCHEN),
    "電話": (("", ""), _ROOM, _OFFICE),
    "ドライヤー": (("", ""), _ROOM),
    "コピー機": (("", ""), _OFFICE),
    "コーヒーメーカー": (("", ""), _KITCHEN, _OFFICE),
}


def broken(draw: Draw) -> Drawn:
    """エアコンが壊れています。テレビの使い方を教えてください。"""
    ja, en = draw.choose(_MACHINES)
    this_ja, this_en = draw.choose((("この", "this"), ("その", "that")))
    where_ja, where_en = draw.choose(_ROOMS.get(ja, (("", ""),)))
    the = f"the {en}{where_en}"
    pairs = [
        Pair(f"{where_ja}{ja}が壊れています。", english.sentence(f"{the} is broken")),
        Pair(f"{where_ja}{ja}が壊れました。", english.sentence(f"{the} broke")),
        Pair(f"{where_ja}{ja}が動きません。", english.sentence(f"{the} doesn't work")),
        Pair(f"{this_ja}{ja}は壊れていますか。", f"Is {this_en} {en} broken?"),
        Pair(
            f"{this_ja}{ja}の使い方を教えてください。", f"Please tell me how to use {this_en} {en}."
        ),
        Pair(f"{where_ja}{ja}を使ってもいいですか。", f"May I use {the}?"),
        Pair(f"{where_ja}{ja}を直してください。", f"Please fix {the}."),
        Pair(f"{this_ja}{ja}は新しいですか。", f"Is {this_en} {en} new?"),
    ]
    if en in ("lock", "clock", "light"):
        pairs.pop(5)
    return Drawn((ja, where_ja or this_ja), draw.typed(draw.sample(pairs, 4)))


_DEGREES = (("", ""), ("とても", "very "), ("少し", "a little "), ("まだ", "still "))


def condition(draw: Draw) -> Drawn:
    """少し疲れています。もう元気です。まだ眠いです。"""
    ja, en = draw.choose(_CONDITIONS)
    adverb_ja, adverb_en = draw.choose(_DEGREES if en != "in trouble" else _DEGREES[:1])
    me = draw.choose(("", "", "私は"))
    pairs = []
    for mood in draw.moods(3, negatives=not adverb_ja, questions=not adverb_ja):
        past = draw.chance(0.3) and adverb_ja != "まだ"
        text = tell(
            SPEAKER.asked(mood.question),
            Phrase("be", adverb_en + en),
            "past" if past else "present",
            mood,
        )
        pairs.append(Pair(("" if mood.question else me) + adverb_ja + mood.end(ja, past), text))
    if draw.chance(0.25):
        return Drawn((ja.text, adverb_ja), draw.typed(pairs))
    somebody = draw.somebody()
    about_somebody = [
        Pair(
            f"{somebody.ja}は{adverb_ja if mood.polite else ''}{mood.end(ja)}",
            tell(
                somebody.en,
                Phrase("be", (adverb_en if mood.polite else "") + en),
                "present",
                mood,
            ),
        )
        for mood in draw.moods(3, [somebody], negatives=not adverb_ja, questions=not adverb_ja)
    ]
    return Drawn((somebody.ja, ja.text), draw.typed(about_somebody))


_CONDITIONS = (
    (Word("疲れている", "ichidan"), "tired"),
    (Word("忙しい", "i"), "busy"),
    (Word("緊張している", "ichidan"), "nervous"),
    (Word("怒っている", "ichidan"), "angry"),
    (Word("困っている", "ichidan"), "in trouble"),
    (Word("心配している", "ichidan"), "worried"),
    (Word("お腹がすいている", "ichidan"), "hungry"),
    (Word("喉が渇いている", "ichidan"), "thirsty"),
    (Word("酔っている", "ichidan"), "drunk"),
    (Word("退屈している", "ichidan"), "bored"),
)

PATTERNS = (ill, lost, broken, condition)

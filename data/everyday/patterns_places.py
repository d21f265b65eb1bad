"""Patterns of asking for the way and of getting around."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Pair
from keras_attn_data.everyday.english import article

# Places that the table of places does not have, because nothing is done there.
_SPOTS = (
    ("入口", "the entrance"),
    ("出口", "the exit"),
    ("エレベーター", "the elevator"),
    ("階段", "the stairs"),
    ("受付", "the reception desk"),
    ("切符売り場", "the ticket office"),
    ("改札", "the ticket gate"),
    ("案内所", "the information desk"),
    ("地下鉄の駅", "the subway station"),
    ("タクシー乗り場", "the taxi stand"),
    ("バス乗り場", "the bus terminal"),
    ("観光案内所", "the tourist information center"),
    ("両替所", "the currency exchange"),
    ("非常口", "the emergency exit"),
    ("ロッカー", "the locker"),
    ("レジ", "the cash register"),
    ("ロビー", "the lobby"),
    ("自動販売機", "the vending machine"),
    ("大使館", "the embassy"),
    ("警察署", "the police station"),
    ("ATM", "the ATM"),
    ("喫煙所", "the smoking area"),
    ("会議室", "the meeting room"),
    ("お城", "the castle"),
    ("カフェ", "the cafe"),
)
_EXCUSE = (("", ""), ("", ""), ("すみません、", "excuse me, "), ("すみませんが、", "excuse me, "))


def _spot(draw: Draw, everywhere: bool = True) -> tuple[str, str]:
    if everywhere and draw.chance(0.35):
        return draw.choose(_SPOTS)
    place = draw.place("built")
    return place.ja, place.en


def where_is(draw: Draw) -> Drawn:
    """すみません、駅はどこですか。"""
    ja, en = _spot(draw)
    be = "are" if en == "the stairs" else "is"
    pairs = []
    for excuse_ja, excuse_en in draw.sample(_EXCUSE, 2):
        question = draw.choose(
            (
                "はどこですか",
                "はどこですか",
                "はどこにありますか",
                "はどちらですか",
                "はどこでしょうか",
            )
        )
        text = english.sentence(f"{excuse_en}where {be} {en}", "?")
        pairs.append(Pair(f"{excuse_ja}{ja}{question}。", text))
    pairs.append(Pair(f"{ja}はどこ?", english.sentence(f"where {be} {en}", "?")))
    return Drawn((ja,), draw.typed(pairs))


def nearby(draw: Draw) -> Drawn:
    """この近くにコンビニはありますか。"""
    (ja, en), (excuse_ja, excuse_en) = _spot(draw), draw.choose(_EXCUSE)
    if ja in ("入口", "受付", "会議室", "レジ", "ロビー", "階段", "切符売り場", "改札", "お城"):
        return nearby(draw)
    thing = article(en.removeprefix("the ")) if en != "the stairs" else "a staircase"
    near_ja = draw.choose(("この近くに", "近くに", "この辺に", "この辺りに"))
    has = draw.choose(("はありますか", "がありますか"))
    question = english.sentence(f"{excuse_en}is there {thing} near here", "?")
    pairs = [Pair(f"{excuse_ja}{near_ja}{ja}{has}。", question)]
    pairs.append(Pair(f"近くに{ja}があります。", f"There is {thing} near here."))
    pairs.append(
        Pair(
            f"一番近い{ja}はどこですか。",
            english.sentence(f"where is the nearest {en.removeprefix('the ')}", "?"),
        )
    )
    pairs.append(Pair(f"この近くに{ja}はありません。", f"There isn't {thing} near here."))
    return Drawn((ja,), draw.typed(draw.sample(pairs, 3)))


def way_to(draw: Draw) -> Drawn:
    """駅へはどう行けばいいですか。駅まで歩いて行けますか。"""
    (ja, en), (excuse_ja, excuse_en) = _spot(draw), draw.choose(_EXCUSE)
    how = draw.choose(
        (
            f"{ja}へはどう行けばいいですか。",
            f"{ja}までどうやって行きますか。",
            f"{ja}にはどうやって行けばいいですか。",
            f"{ja}への行き方を教えてください。",
        )
    )
    how_en = f"how do I get to {en}"
    if how.endswith("教えてください。"):
        pairs = [Pair(how, f"Please tell me how to get to {en}.")]
    else:
        pairs = [Pair(excuse_ja + how, english.sentence(excuse_en + how_en, "?"))]
    pairs += [
        Pair(f"{ja}まで歩いて行けますか。", f"Can I walk to {en}?"),
        Pair(f"{ja}は遠いですか。", english.sentence(f"is {en} far", "?")),
        Pair(f"{ja}はここから近いですか。", english.sentence(f"is {en} near here", "?")),
        Pair(
            f"ここから{ja}までどのくらいかかりますか。",
            f"How long does it take to get to {en} from here?",
        ),
        Pair(f"{ja}までいくらですか。", f"How much is it to {en}?"),
        Pair(f"このバスは{ja}に行きますか。", f"Does this bus go to {en}?"),
        Pair(f"{ja}までお願いします。", english.sentence(f"to {en}, please")),
        Pair(f"{ja}に行きたいんですが。", f"I'd like to go to {en}."),
        Pair(f"{ja}へ行きたいです。", f"I want to go to {en}."),
        Pair(f"{ja}に着いたら教えてください。", f"Please tell me when we get to {en}."),
        Pair(f"{ja}はもう閉まっていますか。", english.sentence(f"is {en} closed already", "?")),
        Pair(f"{ja}を探しています。", f"I'm looking for {en}."),
        Pair(f"{ja}はあそこです。", english.sentence(f"{en} is over there")),
        Pair(f"{ja}は何時に開きますか。", f"What time does {en} open?"),
        Pair(f"{ja}は何時に閉まりますか。", f"What time does {en} close?"),
    ]
    if en in dict(_SPOTS).values():
        outdoors = ("open", "close", "bus", "How much", "To the")
        pairs = [pair for pair in pairs if not any(word in pair.en for word in outdoors)]
    if en == "the stairs":
        return way_to(draw)
    return Drawn((ja,), draw.typed(draw.sample(pairs, 4)))


_SIDES = (
    ("右", "on the right"),
    ("左", "on the left"),
    ("右側", "on the right"),
    ("左側", "on the left"),
    ("突き当たり", "at the end of the hall"),
    ("駅の前", "in front of the station"),
    ("駅の近く", "near the station"),
    ("角", "on the corner"),
    ("この先", "just ahead"),
    ("道の向こう側", "on the other side of the street"),
)
_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh"}
_ORDINALS |= {8: "eighth", 9: "ninth", 10: "tenth", 12: "12th", 15: "15th"}


# Places that are on a floor of a building.
_INDOORS = frozenset(
    "受付 案内所 両替所 ロッカー レジ 自動販売機 ATM 喫煙所 会議室 カフェ レストラン 食堂 プール "
    "喫茶店 本屋 薬局 図書館 教室 映画館 眼鏡屋 文房具屋 歯医者 床屋 美術館".split()
)


def which_side(draw: Draw) -> Drawn:
    """銀行は右側にあります。受付は三階です。二つ目の角を右に曲がってください。"""
    ja, en = _spot(draw)
    if en == "the stairs":
        return which_side(draw)
    side_ja, side_en = draw.choose(_SIDES)
    floor = draw.choose(list(_ORDINALS))
    floor_ja = draw.choose((f"{floor}階", japanese.numeral(floor) + "階"))
    there = draw.choose(("にあります。", "です。"))
    turn_ja, turn_en = draw.choose((("右", "right"), ("左", "left")))
    nth = draw.choose((1, 2, 3))
    nth_ja = draw.choose((f"{nth}つ目", japanese.numeral(nth) + "つ目"))
    corner_ja, corner_en = draw.choose(
        (("角", "corner"), ("信号", "traffic light"), ("交差点", "intersection"))
    )
    pairs = [
        Pair(f"{ja}は{side_ja}にあります。", english.sentence(f"{en} is {side_en}")),
        Pair(
            f"{ja}は{floor_ja}{there}", english.sentence(f"{en} is on the {_ORDINALS[floor]} floor")
        ),
        Pair(f"{ja}は何階ですか。", f"What floor is {en} on?"),
    ]
    if ja not in _INDOORS:
        pairs = pairs[:1]
    if draw.chance(0.3):
        pairs = [
            Pair(
                f"{nth_ja}の{corner_ja}を{turn_ja}に曲がってください。",
                f"Turn {turn_en} at the {_ORDINALS[nth]} {corner_en}.",
            ),
            Pair(
                f"{ja}の前で{turn_ja}に曲がってください。",
                f"Turn {turn_en} in front of {en}.",
            ),
            Pair(
                f"まっすぐ行って、{turn_ja}に曲がってください。", f"Go straight and turn {turn_en}."
            ),
            Pair(
                f"次の{corner_ja}を{turn_ja}に曲がってください。",
                f"Turn {turn_en} at the next {corner_en}.",
            ),
        ]
    return Drawn((ja, side_ja), draw.typed(draw.sample(pairs, 3)))


_SOON = (
    ("来年", "next year"),
    ("来月", "next month"),
    ("来週", "next week"),
    ("今年の夏", "this summer"),
    ("来年の春", "next spring"),
)


def been_there(draw: Draw) -> Drawn:
    """日本へ行ったことがありますか。京都はどうでしたか。"""
    place = draw.place(draw.choose(("land", "town", "far")))
    if draw.chance(0.15):
        ja, en = "日本", "Japan"
    else:
        ja, en = place.ja, place.en
    to, me = draw.choose(("に", "へ")), draw.choose(("", "", "私は"))
    soon_ja, soon_en = draw.choose(_SOON)
    times = draw.choose((2, 3, 4, 5))
    count_ja = draw.choose((f"{times}回", japanese.numeral(times) + "回"))
    count_en = {2: "twice"}.get(times, f"{english.number(times)} times")
    pairs = [
        Pair(f"{ja}{to}行ったことがありますか。", f"Have you ever been to {en}?"),
        Pair(f"{ja}{to}行ったことがある?", f"Have you ever been to {en}?"),
        Pair(f"{me}{ja}{to}行ったことがあります。", f"I've been to {en} before."),
        Pair(f"{me}{ja}{to}行ったことがありません。", f"I've never been to {en}."),
        Pair(f"{me}{ja}{to}{count_ja}行ったことがあります。", f"I've been to {en} {count_en}."),
        Pair(f"{me}まだ{ja}{to}行ったことがありません。", f"I haven't been to {en} yet."),
        Pair(f"{ja}はどうでしたか。", f"How was {en}?"),
        Pair(f"{ja}はどんなところですか。", f"What is {en} like?"),
        Pair(f"{me}{ja}が好きです。", f"I like {en}."),
        Pair(f"いつ{ja}{to}行きますか。", f"When will you go to {en}?"),
        Pair(f"いつ{ja}に来ましたか。", f"When did you come to {en}?"),
        Pair(f"{ja}は初めてですか。", f"Is this your first time in {en}?"),
        Pair(f"{ja}は初めてです。", f"This is my first time in {en}."),
        Pair(f"{ja}の天気はどうですか。", f"How is the weather in {en}?"),
        Pair(f"ぜひ{ja}に来てください。", f"Please come to {en}."),
        Pair(f"{me}いつか{ja}{to}行きたいです。", f"I want to go to {en} someday."),
        Pair(f"{me}{soon_ja}、{ja}{to}行きたいです。", f"I want to go to {en} {soon_en}."),
        Pair(f"{me}{soon_ja}、{ja}{to}行きます。", f"I'll go to {en} {soon_en}."),
        Pair(f"{me}去年、{ja}{to}行きました。", f"I went to {en} last year."),
        Pair(f"{me}{ja}で働いています。", f"I work in {en}."),
        Pair(f"{me}{ja}で写真をたくさん撮りました。", f"I took a lot of pictures in {en}."),
        Pair(f"{me}{ja}に一週間いました。", f"I was in {en} for a week."),
        Pair(f"{ja}の食べ物はおいしいです。", f"The food in {en} is delicious."),
    ]
    return Drawn((ja,), draw.typed(draw.sample(pairs, 5)))


PATTERNS = (where_is, nearby, way_to, which_side, been_there)

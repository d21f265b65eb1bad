"""Patterns of figures: prices, phone and room numbers, quantities, measures, years."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, tell
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.patterns_numbers import price_range


def _whole(draw: Draw, low: int, high: int) -> int:
    """Number in a range, each length equally often, often round."""
    digits = draw.choose(list(range(len(str(low)), len(str(high)) + 1)))
    number = int(10 ** (digits - 1) * (1 + 9 * draw.rng.random()))
    step = 10 ** max(0, digits - draw.choose((1, 2, 2, 3, 4)))
    return min(max(number // step * step, low), high)


def written(draw: Draw, number: int) -> str:
    """Number as it is written in Japanese: 1900, 1,900, 千九百, 15万, 十五万."""
    styles = [str(number), f"{number:,}"]
    if len(str(number).rstrip("0")) <= 4:
        styles.append(japanese.numeral(number))
    if number >= 10_000:
        ten_thousands, rest = divmod(number, 10_000)
        styles += [f"{ten_thousands}万{rest or ''}"] * 2
    return draw.choose(styles)


_PRICED = (
    ("これは", Person("this", "3n")),
    ("それは", Person("that", "3n")),
    ("あれは", Person("that", "3n")),
    ("", Person("it", "3n")),
    ("", Person("it", "3n")),
    ("全部で", Person("it", "3n")),
    ("合計は", Person("the total", "3n")),
    ("家賃は", Person("the rent", "3n")),
    ("切符は", Person("the ticket", "3n")),
    ("入場料は", Person("the admission fee", "3n")),
    ("送料は", Person("the shipping fee", "3n")),
    ("タクシー代は", Person("the taxi fare", "3n")),
    ("料金は", Person("the charge", "3n")),
    ("一泊", Person("it", "3n")),
    ("一つ", Person("it", "3n")),
    ("税込みで", Person("it", "3n")),
)
_RANGES = {
    "家賃は": (30_000, 250_000),
    "切符は": (140, 30_000),
    "入場料は": (200, 9000),
    "送料は": (200, 3000),
    "タクシー代は": (600, 20_000),
    "一泊": (3000, 80_000),
    "一つ": (50, 5000),
}
_AFTER = {"全部で": "in total", "一泊": "per night", "一つ": "each", "税込みで": "including tax"}


def amount(draw: Draw) -> Drawn:
    """これは1900円です。全部で千九百円です。家賃は15万円です。"""
    topic, person = draw.choose(_PRICED)
    low, high = _RANGES.get(topic, (50, 9_000_000 if draw.chance(0.2) else 90_000))
    yen = _whole(draw, low, high)
    shown = written(draw, yen)
    after = _AFTER.get(topic, "")
    phrase = Phrase("be", f"{yen:,} yen {after}")
    word = Word(f"{topic}{shown}円", "noun")
    pairs = []
    for mood in draw.moods(2, questions=not after, negatives=False):
        past = draw.chance(0.2)
        pairs.append(
            Pair(mood.end(word, past), tell(person, phrase, "past" if past else "present", mood))
        )
    if not topic or topic == "全部で":
        pairs.append(
            Pair(
                f"{topic}{shown}円になります。", english.sentence(f"that'll be {yen:,} yen {after}")
            )
        )
        pairs.append(
            Pair(
                f"{topic}{shown}円かかりました。", english.sentence(f"it cost {yen:,} yen {after}")
            )
        )
        pairs.append(
            Pair(f"{topic}{shown}円払いました。", english.sentence(f"I paid {yen:,} yen {after}"))
        )
    return Drawn((topic, str(yen)), draw.typed(draw.sample(pairs, 2)))


def money(draw: Draw) -> Drawn:
    """1万円持っています。この時計を五万円で買いました。"""
    noun = draw.noun("electric", "clothes", "bag", "accessory", "furniture", "instrument")
    low, high, _ = price_range(noun.tags)
    yen = _whole(draw, low, high)
    shown = written(draw, yen)
    this_ja, this_en = draw.choose((("この", "this"), ("その", "that")))
    this = noun.as_subject(this_en)
    somebody = draw.somebody()
    be = Phrase("be", f"{yen:,} yen")
    pairs = [
        Pair(f"{this_ja}{noun.ja}は{shown}円です。", tell(this, be, "present", Mood(True))),
        Pair(f"{this_ja}{noun.ja}は{shown}円でした。", tell(this, be, "past", Mood(True))),
        Pair(
            f"{this_ja}{noun.ja}は{shown}円ですか。",
            tell(this, be, "present", Mood(True, question=True)),
        ),
        Pair(
            f"{this_ja}{noun.ja}を{shown}円で買いました。", f"I bought {this.text} for {yen:,} yen."
        ),
        Pair(f"{noun.ja}を{shown}円で買った。", f"I bought {noun.bare} for {yen:,} yen."),
        Pair(f"{shown}円の{noun.ja}を買いました。", f"I bought {noun.bare} that cost {yen:,} yen."),
        Pair(f"{shown}円しかありません。", f"I only have {yen:,} yen."),
        Pair(f"財布に{shown}円あります。", f"I have {yen:,} yen in my wallet."),
        Pair(f"{somebody.ja}に{shown}円貸しました。", f"I lent {somebody.en.object} {yen:,} yen."),
        Pair(
            f"{somebody.ja}に{shown}円借りました。",
            f"I borrowed {yen:,} yen from {somebody.en.object}.",
        ),
        Pair(f"{shown}円貯めました。", f"I saved {yen:,} yen."),
    ]
    return Drawn((noun.ja, str(yen)), draw.typed(draw.sample(pairs, 3)))


def _digits(draw: Draw, *lengths: int) -> str:
    parts = ["".join(str(int(draw.rng.random() * 10)) for _ in range(n)) for n in lengths]
    return "-".join(parts)


_MOBILE, _OTHER = ("090", "080", "070"), ("03", "06", "0120", "045")


def _phone(draw: Draw, starts: tuple[str, ...]) -> str:
    start = draw.choose(starts)
    lengths = (3, 3) if start == "0120" else (3, 4) if start == "045" else (4, 4)
    return f"{start}-{_digits(draw, *lengths)}"


_OF_MOBILES = (
    ("携帯電話の番号は", "The cell phone number"),
    ("私の携帯の番号は", "My cell phone number"),
)


def phone_number(draw: Draw) -> Drawn:
    """電話番号は090-1234-5678です。"""
    mobile = draw.chance(0.5)
    number = _phone(draw, _MOBILE if mobile else _OTHER)
    owner = draw.somebody()
    place = draw.place("hours")
    of_others = (
        (f"{place.ja}の電話番号は", f"The phone number of {place.en}"),
        ("ファックス番号は", "The fax number"),
    )
    pairs = [
        Pair(f"{topic}{number}です。", f"{en} is {number}.")
        for topic, en in (
            ("電話番号は", "The phone number"),
            ("私の電話番号は", "My phone number"),
            (
                f"{owner.ja}の電話番号は",
                english.sentence(english.possessive(owner.en.text), "") + " phone number",
            ),
            *(_OF_MOBILES if mobile else of_others),
        )
    ]
    pairs += [
        Pair(f"{number}に電話してください。", f"Please call {number}."),
        Pair(f"{number}までお電話ください。", f"Please call {number}."),
        Pair(f"電話番号は{number}ですか。", f"Is the phone number {number}?"),
    ]
    return Drawn((number,), draw.typed(draw.sample(pairs, 2)))


def label_number(draw: Draw) -> Drawn:
    """部屋番号は305です。3番線から出ます。次の会議は第2会議室です。"""
    room = draw.choose(range(1, 10)) * 100 + draw.choose(range(1, 20))
    small = 1 + int(draw.rng.random() * 30)
    code = _digits(draw, draw.choose((4, 4, 6)))
    postal = _digits(draw, 3, 4)
    place = draw.place("hours")
    pairs = [
        Pair(f"部屋番号は{room}です。", f"The room number is {room}."),
        Pair(f"私の部屋は{room}号室です。", f"My room is room {room}."),
        Pair(f"{room}号室の鍵をお願いします。", f"The key to room {room}, please."),
        Pair(f"{room}号室はどこですか。", f"Where is room {room}?"),
        Pair(f"電車は{small}番線から出ます。", f"The train leaves from platform {small}."),
        Pair(f"次の電車は{small}番線です。", f"The next train is on platform {small}."),
        Pair(f"{small}番のバスに乗ってください。", f"Please take the number {small} bus."),
        Pair(
            f"{place.ja}へは{small}番のバスで行けます。",
            f"You can get to {place.en} by the number {small} bus.",
        ),
        Pair(f"{small}ページを開いてください。", f"Please open to page {small}."),
        Pair(
            f"教科書の{small}ページを読んでください。", f"Please read page {small} of the textbook."
        ),
        Pair(f"第{small}課を勉強しました。", f"I studied lesson {small}."),
        Pair(f"暗証番号は{code}です。", f"The PIN is {code}."),
        Pair(f"パスワードは{code}です。", f"The password is {code}."),
        Pair(f"予約番号は{code}です。", f"The reservation number is {code}."),
        Pair(f"郵便番号は{postal}です。", f"The postal code is {postal}."),
        Pair(f"{small}番の方、どうぞ。", f"Number {small}, please."),
        Pair(f"{small}番出口を出てください。", f"Please take exit {small}."),
        Pair(f"私の席は{small}番です。", f"My seat is number {small}."),
        Pair(f"便名はJL{room}です。", f"The flight number is JL{room}."),
    ]
    return Drawn((str(room), str(small), code), draw.typed(draw.sample(pairs, 3)))


_CROWDS = (
    ("学生", "人", "students", "この学校に", "at this school", 20, 2000),
    ("社員", "人", "employees", "この会社に", "at this company", 10, 30_000),
    ("客", "人", "guests", "このホテルに", "at this hotel", 20, 900),
    ("本", "冊", "books", "この図書館に", "in this library", 500, 300_000),
    ("席", "席", "seats", "このホールに", "in this hall", 50, 5000),
    ("部屋", "室", "rooms", "このホテルに", "in this hotel", 20, 900),
    ("店", "軒", "shops", "この町に", "in this town", 15, 900),
    ("漢字", "字", "kanji", "この本に", "in this book", 50, 3000),
    ("写真", "枚", "photos", "このアルバムに", "in this album", 15, 900),
    ("ファイル", "個", "files", "このフォルダに", "in this folder", 15, 5000),
    ("車", "台", "cars", "駐車場に", "in the parking lot", 15, 500),
    ("人", "人", "people", "この村に", "in this village", 100, 9000),
)


_TOWNS = (
    ("この町", "this town"),
    ("この市", "this city"),
    ("私の町", "my town"),
    ("この県", "this prefecture"),
    ("私の国", "my country"),
    ("この島", "this island"),
)


def crowd(draw: Draw) -> Drawn:
    """この学校に学生が350人います。人口は約12万人です。"""
    ja, counter, en, where_ja, where_en, low, high = draw.choose(_CROWDS)
    number = _whole(draw, low, high)
    shown = written(draw, number)
    verb = "いる" if counter == "人" else "ある"
    word = Word(verb, "ichidan" if verb == "いる" else "aru")
    many = Person("there", "3p")
    pairs = []
    for mood in draw.moods(2, negatives=False, questions=False):
        past = draw.chance(0.3)
        text = tell(
            many, Phrase("be", f"{number:,} {en} {where_en}"), "past" if past else "present", mood
        )
        pairs.append(Pair(f"{where_ja}{ja}が{shown}{counter}{mood.end(word, past)}", text))
    about = draw.choose(("約", "およそ"))
    text = f"There are about {number:,} {en} {where_en}."
    pairs.append(Pair(f"{where_ja}{ja}が{about}{shown}{counter}{Mood(True).end(word)}", text))
    (town_ja, town_en), people = draw.choose(_TOWNS), _whole(draw, 10_000, 9_000_000)
    shown = written(draw, people)
    about_ja, about_en = draw.choose((("", ""), ("約", "about ")))
    population = f"The population of {town_en} is {about_en}{people:,}."
    pairs.append(Pair(f"{town_ja}の人口は{about_ja}{shown}人です。", population))
    return Drawn((ja, str(number), str(people)), draw.typed(draw.sample(pairs, 2)))


def measure(draw: Draw) -> Drawn:
    """身長は170センチです。駅まで3キロあります。気温は25度です。"""
    tall = 140 + int(draw.rng.random() * 60)
    kilos = 40 + int(draw.rng.random() * 60)
    far = draw.choose((1.5, 2, 2.5, 3, 4, 5, 8, 10, 12, 20, 35, 50))
    degrees = int(draw.rng.random() * 40) - 5
    tax, load = draw.choose((5, 8, 10)), draw.choose((7, 10, 20, 23, 30, 32))
    percent = draw.choose((5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90))
    grams = draw.choose((100, 150, 200, 250, 300, 400, 500, 750))
    litres = draw.choose((1, 2, 3, 5, 10, 20, 40))
    metres = _whole(draw, 50, 3000)
    place, somebody = draw.place("built"), draw.somebody()
    unit = draw.choose(("センチ", "cm"))
    unit_en = "centimeters" if unit == "センチ" else "cm"
    food = draw.noun("meats", "vegetable", "seasoning")
    liquid = "liter" if litres == 1 else "liters"
    pairs = [
        Pair(f"身長は{tall}{unit}です。", f"My height is {tall} {unit_en}."),
        Pair(
            f"{somebody.ja}の身長は{tall}{unit}です。",
            english.sentence(f"{english.possessive(somebody.en.text)} height is {tall} {unit_en}"),
        ),
        Pair(f"体重は{kilos}キロです。", f"My weight is {kilos} kilograms."),
        Pair(f"{place.ja}まで{far}キロです。", f"It's {far} kilometers to {place.en}."),
        Pair(
            f"ここから{place.ja}まで{metres:,}メートルあります。",
            f"It's {metres:,} meters from here to {place.en}.",
        ),
        Pair(f"気温は{degrees}度です。", f"The temperature is {degrees} degrees."),
        Pair(f"今日の最高気温は{degrees}度です。", f"Today's high is {degrees} degrees."),
        Pair(f"降水確率は{percent}%です。", f"The chance of rain is {percent}%."),
        Pair(f"全品{percent}%引きです。", f"Everything is {percent}% off."),
        Pair(f"バッテリーの残りは{percent}%です。", f"The battery is at {percent}%."),
        Pair(f"消費税は{tax}%です。", f"The sales tax is {tax}%."),
        Pair(f"{food.ja}を{grams}グラムください。", f"{grams} grams of {food.general}, please."),
        Pair(
            f"ガソリンを{litres}リットルお願いします。", f"{litres} {liquid} of gasoline, please."
        ),
        Pair(f"荷物は{kilos}キロあります。", f"The luggage weighs {kilos} kilograms."),
        Pair(f"荷物の重さは{load}キロまでです。", f"The luggage may weigh up to {load} kilograms."),
        Pair(
            f"この山の高さは{metres:,}メートルです。", f"This mountain is {metres:,} meters high."
        ),
        Pair(f"この橋の長さは{metres:,}メートルです。", f"This bridge is {metres:,} meters long."),
        Pair(f"テストで{kilos}点を取りました。", f"I got {kilos} points on the test."),
    ]
    key = (str(tall), str(kilos), place.ja, str(metres))
    return Drawn(key, draw.typed(draw.sample(pairs, 3)))


def year(draw: Draw) -> Drawn:
    """私は1995年に生まれました。2024年4月1日に日本に来ました。"""
    born = draw.chance(0.6)
    number = 1950 + int(draw.rng.random() * 60) if born else 2000 + int(draw.rng.random() * 30)
    month, day = 1 + int(draw.rng.random() * 12), 1 + int(draw.rng.random() * 28)
    kanji = "".join("〇一二三四五六七八九"[int(d)] for d in str(number))
    shown = draw.choose((str(number), str(number), str(number), kanji))
    if shown == kanji:
        date_ja = f"{shown}年{japanese.numeral(month)}月{japanese.numeral(day)}日"
    else:
        date_ja = f"{shown}年{month}月{day}日"
    date_en = f"{english.date(month, day)}, {number}"
    month_en = f"{english.MONTHS[month - 1]} {number}"
    month_ja = f"{shown}年{date_ja.split('年')[1].split('月')[0]}月"
    me, who = draw.choose(("", "", "私は")), draw.who(0.0)
    building_ja, building_en = draw.choose(_FOUNDED)
    pairs = [
        Pair(f"{me}{shown}年に生まれました。", f"I was born in {number}."),
        Pair(f"{me}{date_ja}に生まれました。", f"I was born on {date_en}."),
        Pair(f"{me}{shown}年生まれです。", f"I was born in {number}."),
        Pair(
            f"{who.topic}{shown}年に生まれた。",
            tell(who.en, Phrase("be", f"born in {number}"), "past", Mood(True)),
        ),
        Pair(f"生年月日は{date_ja}です。", f"My date of birth is {date_en}."),
        Pair(f"今日は{date_ja}です。", f"Today is {date_en}."),
        Pair(f"{date_ja}に結婚しました。", f"I got married on {date_en}."),
        Pair(f"{me}{shown}年に日本に来ました。", f"I came to Japan in {number}."),
        Pair(f"{me}{month_ja}に日本に来ました。", f"I came to Japan in {month_en}."),
        Pair(f"{me}{shown}年に大学を卒業しました。", f"I graduated from university in {number}."),
        Pair(f"{me}{month_ja}に会社に入りました。", f"I joined the company in {month_en}."),
        Pair(f"{building_ja}は{shown}年にできました。", f"{building_en} was built in {number}."),
        Pair(f"締め切りは{date_ja}です。", f"The deadline is {date_en}."),
        Pair(f"有効期限は{date_ja}までです。", f"It's valid until {date_en}."),
    ]
    return Drawn((str(number), date_en), draw.typed(draw.sample(pairs, 3)))


_FOUNDED = (
    ("この学校", "This school"),
    ("この橋", "This bridge"),
    ("このお寺", "This temple"),
    ("この駅", "This station"),
    ("この図書館", "This library"),
    ("このホテル", "This hotel"),
    ("この家", "This house"),
)

PATTERNS = (amount, money, phone_number, label_number, crowd, measure, year)

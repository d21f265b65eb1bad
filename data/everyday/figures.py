"""Numbers, prices, times and dates, drawn in code and written in several ways."""

from collections.abc import Callable

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.lexicon import Draw, Filler, Noun, Number, fits

Maker = Callable[[Draw, str, dict[str, Filler]], Filler]

_MINUTES = (0, 0, 0, 0, 30, 30, 5, 10, 15, 20, 25, 35, 40, 45, 50, 55)
_MOBILE, _OTHER = ("090", "080", "070"), ("03", "06", "0120", "045")
_PRICES = (
    ("electric|furniture|instrument|vehicle", 8000, 98000),
    ("clothes|bag|accessory|glasses", 1000, 20000),
    ("order|book|dishware", 300, 2500),
)


def _range(tags: str) -> tuple[int, int]:
    low, _, high = tags.partition("-")
    return int(low), int(high)


def _number(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    """{n:2-9} or {n:1,5,10}: in digits or kanji."""
    value = draw.between(*_range(tags)) if "-" in tags else int(draw.choose(tags.split(",")))
    kanji = draw.chance(0.45 if value <= 12 else 0.12) and 0 < value <= 100
    shown = japanese.numeral(value) if kanji else str(value)
    return Number(value, shown)


def _whole(draw: Draw, low: int, high: int) -> int:
    """Number in a range, each length equally often, often round."""
    digits = draw.between(len(str(low)), len(str(high)))
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


def _quantity(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    """{many:100-90000}: large number, written in several ways."""
    value = _whole(draw, *_range(tags))
    return Number(value, written(draw, value))


def _yen(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    """{yen:100-9000}, or {yen} at the price of {thing}."""
    thing = words.get("thing")
    low, high = _range(tags or "100-900")
    if not tags and isinstance(thing, Noun):
        found = [price for price in _PRICES if fits(thing.tags, price[0])]
        low, high = found[0][1:] if found else (low, high)
    value = _whole(draw, low, high)
    return Filler(written(draw, value) + "円", f"{value:,} yen", f"{value}円")


def _clock(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    """{clock:6-22}: 午後3時半, "3:30 p.m."; with or without 午前 and 午後."""
    of_day = draw.between(*(_range(tags) if tags else (1, 24)))
    minute = draw.choose(_MINUTES)
    hour, afternoon = (of_day - 1) % 12 + 1, 12 <= of_day < 24
    kanji = draw.chance(0.3)
    shown = japanese.numeral(hour) if kanji else str(hour)
    minutes = japanese.numeral(minute) if kanji and minute else str(minute)
    tail = "時" if not minute else "時半" if minute == 30 else f"時{minutes}分"
    digits = f"{hour}:{minute:02d}" if minute else str(hour)
    half = ("午後", " p.m.") if afternoon else ("午前", " a.m.")
    half_ja, half_en = half if draw.chance(0.5) else ("", "")
    if not half_ja and not minute:
        half_en = " o'clock"
    return Filler(f"{half_ja}{shown}{tail}", f"{digits}{half_en}")


def _date(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    """{date}: 5月3日, "May 3"; {date:7-8} in the months from July to August."""
    month, day = draw.between(*(_range(tags) if tags else (1, 12))), draw.between(1, 28)
    shown = f"{month}月{day}日"
    if draw.chance(0.25):
        shown = f"{japanese.numeral(month)}月{japanese.numeral(day)}日"
    return Filler(shown, english.date(month, day))


def _year(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    """{year:1950-2010}: in digits or kanji."""
    value = draw.between(*_range(tags))
    kanji = "".join("〇一二三四五六七八九"[int(digit)] for digit in str(value))
    return Filler(kanji if draw.chance(0.2) else str(value), str(value), str(value))


def _weekday(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    at = draw.between(0, 6)
    return Filler("月火水木金土日"[at] + "曜日", english.WEEKDAYS[at])


def _month(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    at = draw.between(1, 12)
    shown = str(at) if draw.chance(0.6) else japanese.numeral(at)
    return Filler(shown + "月", english.MONTHS[at - 1])


def digits(draw: Draw, *lengths: int) -> str:
    """Groups of digits with hyphens between them."""
    return "-".join("".join(str(draw.between(0, 9)) for _ in range(n)) for n in lengths)


def _code(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    """{code:3-4}: 123-4567; the tag tells the lengths."""
    text = digits(draw, *(int(length) for length in tags.split("-")))
    return Filler(text, text)


def _phone(draw: Draw, tags: str, words: dict[str, Filler]) -> Filler:
    """{phone:mobile} or {phone:office}."""
    start = draw.choose(_MOBILE if tags == "mobile" else _OTHER)
    lengths = (3, 3) if start == "0120" else (3, 4) if start == "045" else (4, 4)
    text = f"{start}-{digits(draw, *lengths)}"
    return Filler(text, text)


MAKERS: dict[str, Maker] = {"n": _number, "many": _quantity, "yen": _yen, "clock": _clock}
MAKERS |= {"date": _date, "year": _year, "weekday": _weekday, "month": _month, "code": _code}
MAKERS |= {"phone": _phone}

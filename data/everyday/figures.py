"""Numbers, prices, times and dates, drawn in code and written in several ways."""

from collections.abc import Callable, Sequence

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.lexicon import Draw, Filler, Noun, Number, fits

Words = dict[str, Filler]
Maker = Callable[[Draw, str, Words], Filler]

_MINUTES = (0, 0, 0, 0, 30, 30, 5, 10, 15, 20, 25, 35, 40, 45, 50, 55)
_MOBILE, _OTHER = ("090", "080", "070"), ("03", "06", "0120", "045")
_PRICES = [("electric|furniture|instrument|vehicle", 8000, 98000)]
_PRICES += [("clothes|bag|accessory|glasses", 1000, 20000), ("order|book|dishware", 300, 2500)]


def _range(tags: str) -> tuple[int, int]:
    low, _, high = tags.partition("-")
    return int(low), int(high)


def _number(draw: Draw, tags: str, words: Words) -> Filler:
    """{n:2-9} or {n:1,5,10}: in digits or kanji."""
    value = draw.between(*_range(tags)) if "-" in tags else int(draw.choose(tags.split(",")))
    kanji = draw.chance(0.45 if value <= 12 else 0.12) and 0 < value <= 100
    return Number(value, japanese.numeral(value) if kanji else str(value))


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


def _quantity(draw: Draw, tags: str, words: Words) -> Filler:
    """{many:100-90000}: large number, written in several ways."""
    value = _whole(draw, *_range(tags))
    return Number(value, written(draw, value))


def _yen(draw: Draw, tags: str, words: Words) -> Filler:
    """{yen:100-9000}, or {yen} at the price of {thing}."""
    thing = words.get("thing")
    low, high = _range(tags or "100-900")
    if not tags and isinstance(thing, Noun):
        found = [price for price in _PRICES if fits(thing.tags, price[0])]
        low, high = found[0][1:] if found else (low, high)
    value = _whole(draw, low, high)
    return Filler(written(draw, value) + "円", f"{value:,} yen", f"{value}円")


def _clock(draw: Draw, tags: str, words: Words) -> Filler:
    """{clock:6-22}: 午後3時半, "3:30 p.m."; with or without 午前 and 午後."""
    of_day = draw.between(*(_range(tags) if tags else (1, 24)))
    minute = draw.choose(_MINUTES)
    hour, afternoon = (of_day - 1) % 12 + 1, 12 <= of_day < 24
    write = japanese.numeral if draw.chance(0.3) else str
    tail = "時" if not minute else "時半" if minute == 30 else f"時{write(minute)}分"
    digits = f"{hour}:{minute:02d}" if minute else str(hour)
    half = ("午後", " p.m.") if afternoon else ("午前", " a.m.")
    half_ja, half_en = half if draw.chance(0.5) else ("", "")
    if not half_ja and not minute:
        half_en = " o'clock"
    return Filler(f"{half_ja}{write(hour)}{tail}", f"{digits}{half_en}")


def _date(draw: Draw, tags: str, words: Words) -> Filler:
    """{date}: 5月3日, "May 3"; {date:7-8} in the months from July to August."""
    month, day = draw.between(*(_range(tags) if tags else (1, 12))), draw.between(1, 28)
    write = japanese.numeral if draw.chance(0.25) else str
    return Filler(f"{write(month)}月{write(day)}日", english.date(month, day))


def _year(draw: Draw, tags: str, words: Words) -> Filler:
    """{year:1950-2010}: in digits or kanji."""
    value = draw.between(*_range(tags))
    kanji = "".join("〇一二三四五六七八九"[int(digit)] for digit in str(value))
    return Filler(kanji if draw.chance(0.2) else str(value), str(value), str(value))


def _weekday(draw: Draw, tags: str, words: Words) -> Filler:
    at = draw.between(0, 6)
    return Filler("月火水木金土日"[at] + "曜日", english.WEEKDAYS[at])


def _month(draw: Draw, tags: str, words: Words) -> Filler:
    at = draw.between(1, 12)
    return Filler(
        draw.choose((str(at), str(at), japanese.numeral(at))) + "月", english.MONTHS[at - 1]
    )


def _digits(draw: Draw, lengths: Sequence[int], start: str = "") -> Filler:
    """Groups of digits with hyphens between them."""
    groups = ["".join(str(draw.between(0, 9)) for _ in range(n)) for n in lengths]
    text = "-".join([start, *groups] if start else groups)
    return Filler(text, text)


def _code(draw: Draw, tags: str, words: Words) -> Filler:
    """{code:3-4}: 123-4567; the tag tells the lengths."""
    return _digits(draw, [int(length) for length in tags.split("-")])


def _phone(draw: Draw, tags: str, words: Words) -> Filler:
    """{phone:mobile} or {phone:office}."""
    start = draw.choose(_MOBILE if tags == "mobile" else _OTHER)
    return _digits(draw, {"0120": (3, 3), "045": (3, 4)}.get(start, (4, 4)), start)


MAKERS: dict[str, Maker] = {"n": _number, "many": _quantity, "yen": _yen, "clock": _clock}
MAKERS |= {"date": _date, "year": _year, "weekday": _weekday, "month": _month, "code": _code}
MAKERS |= {"phone": _phone}

"""Text that is copied: addresses, file names, placeholders, tags, hashtags and mentions.

The text is drawn at random and is the same in both languages: a model has to copy it.
"""

import string
from collections.abc import Callable

from keras_attn_data.everyday.slots import Draw, Filler, Scene

_SYLLABLES = "ka mi to ro ne su ha ri yo ta ku sei ga na ma shi to ken do an wa lo ve te".split()
_WORDS = (
    "news help about shop blog guide docs info support contact event faq login search download map "
    "price list member photo report data user order item page home cart review travel hotel menu "
    "ticket schedule update access recipe music video library school course lesson test form"
).split()
_ENDINGS = "pdf txt csv png jpg docx xlsx zip json html py mp3 mp4 md log xml".split()
_DOMAINS = ("example.com", "example.org", "example.net")
_TAIL = ("", "", "", "", "/", ".html", "?id={number}", "?q={word}", "#{word}")
_TAGS = "b b i em strong u a span code mark p div h1 li kbd link".split()
_STYLES = ("{%s}", "{%s}", "{%s}", "{{%s}}", "${%s}", "%%(%s)s", "<%s>", "[%s]")
_PLACEHOLDERS = {
    "anybody": ("name user user_name username person customer sender owner author member", "s @"),
    "count": ("count n num number total size", "d i"),
    "object": ("item file title product message folder page event city date time place", "s @"),
}


def _word(draw: Draw) -> str:
    if draw.chance(0.5):
        return draw.choose(_WORDS)
    return "".join(draw.choose(_SYLLABLES) for _ in range(draw.between(2, 3)))


def _number(draw: Draw) -> str:
    return str(draw.between(1, draw.choose((9, 99, 2030))))


def _code(draw: Draw) -> str:
    letters = string.ascii_lowercase + string.digits
    return "".join(draw.choose(letters) for _ in range(draw.between(2, 5)))


def _url(draw: Draw) -> str:
    host = draw.choose(("", "", "www.", f"{_word(draw)}.")) + draw.choose(_DOMAINS)
    start = draw.choose(("https://", "https://", "https://", "http://"))
    length = draw.choose((0, 1, 1, 2, 2, 3))
    path = "/".join(draw.choose((_word, _word, _code, _number))(draw) for _ in range(length))
    if not path:
        return f"{start}{host}{draw.choose(('', '/'))}"
    tail = draw.choose(_TAIL).format(number=_number(draw), word=_word(draw))
    return f"{start}{host}/{path}{tail}"


def _email(draw: Draw) -> str:
    joint = draw.choose((".", "_", "-", ""))
    user = _word(draw) + draw.choose(("", joint + _word(draw), _number(draw)))
    return f"{user}@{draw.choose(('', '', _word(draw) + '.'))}{draw.choose(_DOMAINS)}"


def _file(draw: Draw) -> str:
    joint = draw.choose(("_", "-", ""))
    name = _word(draw) + draw.choose(("", joint + _number(draw), joint + _word(draw)))
    return f"{name}.{draw.choose(_ENDINGS)}"


def _hashtag(draw: Draw) -> str:
    word = _word(draw)
    return "#" + draw.choose(
        (word, word + _number(draw), word.capitalize() + _word(draw).capitalize())
    )


def _mention(draw: Draw) -> str:
    return "@" + _word(draw) + draw.choose(("", _number(draw), "_" + _word(draw)))


def _placeholder(kind: str) -> Callable[[Draw], str]:
    """Maker of placeholders: {name}, {{name}}, ${name}, %s, %(name)s, {0}."""
    names, letters = (text.split() for text in _PLACEHOLDERS[kind])

    def make(draw: Draw) -> str:
        if draw.chance(0.25):
            letter = draw.choose(letters)
            return draw.choose((f"%{letter}", f"%{draw.between(1, 2)}${letter}"))
        if draw.chance(0.1):
            return f"{{{draw.between(0, 2)}}}"
        name = draw.choose(names) + (_number(draw) if draw.chance(0.3) else "")
        return draw.choose(_STYLES) % name

    return make


def _opening(draw: Draw) -> str:
    """Opening tag."""
    name = draw.choose(_TAGS)
    if name == "a" and draw.chance(0.8):
        return f'<a href="{_url(draw)}">'
    if name in ("span", "p", "div") and draw.chance(0.6):
        return f'<{name} class="{_word(draw)}">'
    return f"<{name[0]}{_number(draw)}>" if draw.chance(0.2) else f"<{name}>"


class Copied(Filler):
    """Text that is copied; .end is the tag that closes an opening tag."""

    def __init__(self, text: str):
        super().__init__(text, text)

    def en(self, forms: tuple[str, ...], scene: Scene) -> str:
        return f"</{self.text_en[1:-1].split()[0]}>" if forms == ("end",) else self.text_en

    ja = en


MAKERS: dict[str, Callable[[Draw], str]] = {
    "url": _url,
    "email": _email,
    "file": _file,
    "hashtag": _hashtag,
    "mention": _mention,
    "opening": _opening,
    **{kind: _placeholder(kind) for kind in _PLACEHOLDERS},
}

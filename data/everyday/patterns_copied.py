"""Patterns with text that is copied: addresses, file names, placeholders, tags, hashtags, mentions.

The literal text is drawn at random and is the same in both languages: a model has to copy it.
"""

import string

from keras_attn_data.everyday.drawing import Draw, Drawn, Pair

_SYLLABLES = "ka mi to ro ne su ha ri yo ta ku sei ga na ma shi to ken do an wa lo ve te".split()
_WORDS = (
    "news help about shop blog guide docs info support contact event faq login search download map "
    "price list member photo report data user order item page home cart review travel hotel menu "
    "ticket schedule update access recipe music video library school course lesson test form"
).split()
_ENDINGS = "pdf txt csv png jpg docx xlsx zip json html py mp3 mp4 md log xml".split()
_DOMAINS = ("example.com", "example.org", "example.net")


def _word(draw: Draw) -> str:
    if draw.chance(0.5):
        return draw.choose(_WORDS)
    return "".join(draw.sample(_SYLLABLES, draw.choose((2, 3))))


def _number(draw: Draw) -> str:
    return str(1 + int(draw.rng.random() * draw.choose((9, 99, 2030))))


def _code(draw: Draw) -> str:
    return "".join(
        draw.choose(string.ascii_lowercase + string.digits)
        for _ in range(draw.choose((2, 3, 4, 5)))
    )


def _url(draw: Draw) -> str:
    host = draw.choose(("", "", "www.", f"{_word(draw)}.")) + draw.choose(_DOMAINS)
    path = "/".join(
        draw.choose((_word, _word, _code, _number))(draw)
        for _ in range(draw.choose((0, 1, 1, 2, 2, 3)))
    )
    tail = draw.choose(
        (
            "",
            "",
            "",
            "",
            "/",
            ".html",
            f"?id={_number(draw)}",
            f"?q={_word(draw)}",
            f"#{_word(draw)}",
        )
    )
    start = draw.choose(("https://", "https://", "https://", "http://"))
    if not path:
        return f"{start}{host}{draw.choose(('', '/'))}"
    return f"{start}{host}/{path}{tail}"


def _email(draw: Draw) -> str:
    joint = draw.choose((".", "_", "-", ""))
    user = draw.choose(
        (_word(draw), _word(draw) + joint + _word(draw), _word(draw) + _number(draw))
    )
    return f"{user}@{draw.choose(('', '', _word(draw) + '.'))}{draw.choose(_DOMAINS)}"


def _file(draw: Draw) -> str:
    joint = draw.choose(("_", "-", ""))
    name = draw.choose(
        (_word(draw), _word(draw) + joint + _number(draw), _word(draw) + joint + _word(draw))
    )
    return f"{name}.{draw.choose(_ENDINGS)}"


def _hashtag(draw: Draw) -> str:
    return "#" + draw.choose(
        (
            _word(draw),
            _word(draw) + _number(draw),
            _word(draw).capitalize() + _word(draw).capitalize(),
        )
    )


def _mention(draw: Draw) -> str:
    return "@" + draw.choose(
        (_word(draw), _word(draw) + _number(draw), f"{_word(draw)}_{_word(draw)}")
    )


_URLS = (
    ("詳しくは {0} をご覧ください。", "See {0} for details."),
    ("詳細は {0} をご覧ください。", "See {0} for details."),
    ("{0} を見てください。", "Please look at {0}."),
    ("{0} を開いてください。", "Please open {0}."),
    ("{0} にアクセスしてください。", "Please go to {0}."),
    ("こちらのリンクです: {0}", "Here is the link: {0}"),
    ("リンクは {0} です。", "The link is {0}."),
    ("ホームページは {0} です。", "The website is {0}."),
    ("私たちのサイトは {0} です。", "Our site is {0}."),
    ("{0} からダウンロードできます。", "You can download it from {0}."),
    ("{0} で登録してください。", "Please register at {0}."),
    ("{0} で予約できます。", "You can make a reservation at {0}."),
    ("{0} は開けません。", "I can't open {0}."),
    ("地図は {0} にあります。", "The map is at {0}."),
    ("{0} と {1} を見ました。", "I looked at {0} and {1}."),
    ("{0} が見られない場合は {1} をご利用ください。", "If you can't see {0}, please use {1}."),
)
_EMAILS = (
    ("メールアドレスは {0} です。", "The email address is {0}."),
    ("私のメールアドレスは {0} です。", "My email address is {0}."),
    ("{0} にメールを送ってください。", "Please send an email to {0}."),
    ("{0} までご連絡ください。", "Please contact {0}."),
    ("お問い合わせは {0} までお願いします。", "Please send inquiries to {0}."),
    ("質問は {0} に送ってください。", "Please send questions to {0}."),
    ("{0} からメールが来ました。", "I got an email from {0}."),
    ("{0} に写真を送りました。", "I sent the photos to {0}."),
    ("{0} と {1} に送りました。", "I sent it to {0} and {1}."),
    ("{0} に確認メールを送信しました。", "We sent a confirmation email to {0}."),
)
_FILES = (
    ("{0} を開いてください。", "Please open {0}."),
    ("{0} を添付しました。", "I attached {0}."),
    ("{0} を送ってください。", "Please send {0}."),
    ("{0} が見つかりません。", "I can't find {0}."),
    ("{0} を削除しました。", "I deleted {0}."),
    ("{0} を保存しました。", "I saved {0}."),
    ("{0} を印刷してください。", "Please print {0}."),
    ("{0} を {1} にコピーしました。", "I copied {0} to {1}."),
    ("ファイル名は {0} です。", "The file name is {0}."),
    ("{0} と {1} を確認してください。", "Please check {0} and {1}."),
)
_TAGGED = (
    ("{0} で検索してください。", "Please search for {0}."),
    ("{0} をつけて投稿してください。", "Please post with {0}."),
    ("今日の話題は {0} です。", "Today's topic is {0}."),
    ("{0} と {1} をつけました。", "I added {0} and {1}."),
)
_MENTIONED = (
    ("{0} をフォローしてください。", "Please follow {0}."),
    ("{0} さん、ありがとうございます。", "Thank you, {0}."),
    ("{0} に聞いてください。", "Please ask {0}."),
    ("{0} と {1} に連絡しました。", "I contacted {0} and {1}."),
    ("私のアカウントは {0} です。", "My account is {0}."),
)
_LINES = (
    (_URLS, _url),
    (_URLS, _url),
    (_EMAILS, _email),
    (_FILES, _file),
    (_TAGGED, _hashtag),
    (_MENTIONED, _mention),
)


def _spaced(draw: Draw, ja: str, *literals: str) -> str:
    """Japanese with its literals; some writers put no spaces around them.

    The space after a hashtag or mention tells where it ends.
    """
    if literals[0][0] not in "#@" and draw.chance(0.4):
        ja = ja.replace(" ", "")
    return ja.format(*literals)


def copied_address(draw: Draw) -> Drawn:
    """詳しくは https://example.com/a1 をご覧ください。"""
    templates, make = draw.choose(_LINES)
    first, second = make(draw), make(draw)
    pairs = [
        Pair(_spaced(draw, ja, first, second).strip(), en.format(first, second))
        for ja, en in draw.sample(templates, 2)
    ]
    return Drawn((first, second), pairs)


_NAMES = "name user user_name username person customer sender owner author member guest".split()
_COUNTS = "count n num number total size".split()
_THINGS = "item file title product message folder page event city date time place".split()
_WITH_NAME = (
    ("{0}さん、こんにちは。", "Hello, {0}."),
    ("こんにちは、{0}さん。", "Hello, {0}."),
    ("{0}様、いつもありがとうございます。", "Dear {0}, thank you as always."),
    ("ようこそ、{0}さん。", "Welcome, {0}."),
    ("おかえりなさい、{0}さん。", "Welcome back, {0}."),
    ("{0}さん、お誕生日おめでとうございます。", "Happy birthday, {0}."),
    ("{0}さんがコメントしました。", "{0} commented."),
    ("{0}さんからメッセージが届きました。", "You have a message from {0}."),
    ("{0}さんとしてログインしました。", "You're logged in as {0}."),
    ("{0}さんを招待しました。", "You invited {0}."),
    ("{0}さんが{1}さんを招待しました。", "{0} invited {1}."),
    ("{0}さん、ありがとうございました。", "Thank you, {0}."),
    ("{0}さんの予約を確認しました。", "We confirmed {0}'s reservation."),
)
_WITH_COUNT = (
    ("{0}件のファイルを削除しました。", "Deleted {0} files."),
    ("{0}件のメッセージがあります。", "You have {0} messages."),
    ("{0}件の結果が見つかりました。", "Found {0} results."),
    ("{0}枚の写真を保存しました。", "Saved {0} photos."),
    ("残り{0}分です。", "{0} minutes left."),
    ("あと{0}日です。", "{0} days left."),
    ("{0}人が参加しています。", "{0} people are participating."),
    ("{0}点です。", "You got {0} points."),
    ("{0}件中{1}件を表示しています。", "Showing {1} of {0}."),
    ("{0}ページ目です。", "This is page {0}."),
    ("合計は{0}円です。", "The total is {0} yen."),
    ("{0}%完了しました。", "{0}% complete."),
)
_WITH_THING = (
    ("{0}が見つかりません。", "{0} was not found."),
    ("{0}を削除しますか?", "Delete {0}?"),
    ("{0}を保存しました。", "Saved {0}."),
    ("{0}を開けませんでした。", "Couldn't open {0}."),
    ("{0}を{1}に移動しました。", "Moved {0} to {1}."),
    ("{0}を入力してください。", "Please enter {0}."),
    ("{0}に接続できません。", "Can't connect to {0}."),
    ("{0}の読み込みに失敗しました。", "Failed to load {0}."),
    ("{0}を選択してください。", "Please select {0}."),
    ("{0}は{1}に変更されました。", "{0} was changed to {1}."),
    ("{0}をダウンロードしています。", "Downloading {0}."),
)


def _placeholder(draw: Draw, names: list[str], printf: tuple[str, ...]) -> list[str]:
    """Two placeholders of one style: {name}, {{name}}, ${name}, %s, %(name)s, {0}."""
    first, second = draw.sample(names, 2)
    style = draw.choose(
        (
            "{%s}",
            "{%s}",
            "{{%s}}",
            "${%s}",
            "%%(%s)s",
            "printf",
            "printf",
            "index",
            "<%s>",
            "[%s]",
            "{%s}",
        )
    )
    if style == "printf":
        mark = draw.choose(printf)
        return [mark, mark] if not mark.startswith("%1") else [mark, mark.replace("1", "2")]
    if style == "index":
        return ["{0}", "{1}"]
    if draw.chance(0.3):
        number = _number(draw)
        first, second = first + number, second + number
    return [style % first, style % second]


def copied_placeholder(draw: Draw) -> Drawn:
    """{name}さん、こんにちは。%d件のファイルを削除しました。"""
    templates, names, printf = draw.choose(
        (
            (_WITH_NAME, _NAMES, ("%s", "%1$s", "%@")),
            (_WITH_COUNT, _COUNTS, ("%d", "%1$d", "%i")),
            (_WITH_THING, _THINGS, ("%s", "%1$s", "%@")),
        )
    )
    marks = _placeholder(draw, names, printf)
    pairs = []
    for ja, en in draw.sample(templates, 3):
        if (
            "{1}" in ja
            and marks[0] == marks[1]
            and ja.index("{0}") < ja.index("{1}")
            and "{1} of" in en
        ):
            continue
        pairs.append(Pair(_fill(ja, marks), _fill(en, marks)))
    return Drawn((*marks, pairs[0].ja if pairs else ""), pairs)


def _fill(text: str, marks: list[str]) -> str:
    parts = text.replace("{1}", "\0").split("{0}")
    return marks[0].join(parts).replace("\0", marks[1])


_BUTTONS = (
    ("保存", "Save"),
    ("削除", "Delete"),
    ("送信", "Send"),
    ("次へ", "Next"),
    ("戻る", "Back"),
    ("キャンセル", "Cancel"),
    ("検索", "Search"),
    ("設定", "Settings"),
    ("編集", "Edit"),
    ("開く", "Open"),
    ("閉じる", "Close"),
    ("追加", "Add"),
    ("終了", "Exit"),
    ("確認", "Confirm"),
    ("登録", "Register"),
    ("更新", "Update"),
    ("印刷", "Print"),
    ("コピー", "Copy"),
    ("ログイン", "Log in"),
    ("ログアウト", "Log out"),
    ("共有", "Share"),
    ("再生", "Play"),
    ("停止", "Stop"),
    ("開始", "Start"),
)
_PRESSED = (
    ("{0}を押してください。", "Press {0}."),
    ("{0}をクリックしてください。", "Click {0}."),
    ("{0}ボタンを押してください。", "Press the {0} button."),
    ("{0}または{1}を選択してください。", "Select {0} or {1}."),
    ("{0}を押してから{1}を押してください。", "Press {0}, and then press {1}."),
    ("終わったら{0}を押してください。", "Press {0} when you're done."),
    ("{0}を押さないでください。", "Don't press {0}."),
    ("{0}を選んで、{1}をクリックします。", "Select {0} and click {1}."),
    ("{0}をタップしてください。", "Tap {0}."),
    ("右上の{0}をクリックしてください。", "Click {0} at the top right."),
    ("{0}が表示されたら、{1}を押してください。", "When {0} appears, press {1}."),
)
_WARNED = (
    ("{0}重要{1}なお知らせです。", "This is an {0}important{1} notice."),
    ("{0}注意{1}:危険です。", "{0}Warning{1}: It's dangerous."),
    ("これは{0}新しい{1}機能です。", "This is a {0}new{1} feature."),
    ("{0}無料{1}でご利用いただけます。", "You can use it for {0}free{1}."),
    ("{0}必ず{1}確認してください。", "{0}Always{1} check it."),
    ("{0}東京{1}に行きました。", "I went to {0}Tokyo{1}."),
    ("{0}今日{1}は休みです。", "We're closed {0}today{1}."),
    ("{0}ここ{1}をクリックしてください。", "Click {0}here{1}."),
    ("{0}完了{1}しました。", "It's {0}complete{1}."),
    ("料金は{0}無料{1}です。", "The charge is {0}free{1}."),
)


def _tags(draw: Draw) -> tuple[str, str]:
    name = draw.choose(
        (
            "b",
            "b",
            "i",
            "em",
            "strong",
            "u",
            "a",
            "span",
            "code",
            "mark",
            "p",
            "div",
            "h1",
            "li",
            "kbd",
            "link",
        )
    )
    if name == "a" and draw.chance(0.8):
        return f'<a href="{_url(draw)}">', "</a>"
    if name in ("span", "p", "div") and draw.chance(0.6):
        return f'<{name} class="{_word(draw)}">', f"</{name}>"
    if draw.chance(0.2):
        number = _number(draw)
        return f"<{name[0]}{number}>", f"</{name[0]}{number}>"
    return f"<{name}>", f"</{name}>"


def copied_tag(draw: Draw) -> Drawn:
    """<b>保存</b>を押してください。"""
    opened, closed = _tags(draw)
    (one_ja, one_en), (two_ja, two_en) = draw.sample(_BUTTONS, 2)
    pairs = []
    for ja, en in draw.sample(_PRESSED, 2):
        marked_ja = [f"{opened}{text}{closed}" for text in (one_ja, two_ja)]
        marked_en = [f"{opened}{text}{closed}" for text in (one_en, two_en)]
        pairs.append(Pair(_fill(ja, marked_ja), _fill(en, marked_en)))
    ja, en = draw.choose(_WARNED)
    pairs.append(Pair(_fill(ja, [opened, closed]), _fill(en, [opened, closed])))
    if draw.chance(0.3):
        line = draw.choose(
            (
                ("保存しました。<br>ありがとうございます。", "Saved.<br>Thank you."),
                ("完了しました。\\nありがとうございます。", "Done.\\nThank you."),
            )
        )
        pairs.append(Pair(*line))
    return Drawn((opened, one_ja, two_ja), pairs)


PATTERNS = (copied_address, copied_placeholder, copied_tag)

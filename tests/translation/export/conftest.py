import pytest


@pytest.fixture(scope="session")
def texts():
    """Texts of all kinds: empty, long, with unknown and rare characters."""
    return [
        "猫が手紙を書いた。",
        "",
        "🙂👩‍👩‍👧",
        "ほげ鬱龘ﾊﾝｶｸＡＢＣ",
        "駅" * 10_000,
        "明日は雨なので早く起きます。",
        "   ",
    ]

import pytest


@pytest.fixture(scope="session")
def texts():
    """Texts of all kinds: empty, long, with unknown and rare characters."""
    common = ["猫が手紙を書いた。", "明日は雨なので早く起きます。"]
    return [*common, "", "🙂👩\u200d👩\u200d👧", "ほげ鬱龘ﾊﾝｶｸＡＢＣ", "駅" * 80, "   "]

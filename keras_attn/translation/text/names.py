"""Names in Japanese and English, which training pairs hold as users hold a glossary."""

from __future__ import annotations

from keras_attn.languages import code_of

_NAMES = """
トム=Tom メアリー=Mary ジョン=John マイク=Mike アンナ=Anna リサ=Lisa ジム=Jim ケン=Ken ビル=Bill
ボブ=Bob ジェーン=Jane アン=Ann ベティ=Betty エミ=Emi マリア=Maria 田中=Tanaka 鈴木=Suzuki
佐藤=Sato 高橋=Takahashi 伊藤=Ito 山本=Yamamoto 中村=Nakamura 小林=Kobayashi 加藤=Kato 吉田=Yoshida
山田=Yamada 松本=Matsumoto 井上=Inoue 木村=Kimura 林=Hayashi 清水=Shimizu 森=Mori 石川=Ishikawa
前田=Maeda 藤田=Fujita 岡田=Okada 村上=Murakami 健太=Kenta 花子=Hanako 太郎=Taro 由美=Yumi
東京=Tokyo 京都=Kyoto 大阪=Osaka 奈良=Nara 札幌=Sapporo 福岡=Fukuoka 名古屋=Nagoya 横浜=Yokohama
神戸=Kobe 広島=Hiroshima 仙台=Sendai 北海道=Hokkaido 沖縄=Okinawa ボストン=Boston ロンドン=London
パリ=Paris ニューヨーク=New_York アメリカ=America ドイツ=Germany フランス=France イタリア=Italy
カナダ=Canada オーストラリア=Australia
"""
_IN_ENGLISH = dict(name.replace("_", " ").split("=") for name in _NAMES.split())
_TRANSLATIONS = {
    ("ja", "en"): _IN_ENGLISH,
    ("en", "ja"): {english: japanese for japanese, english in _IN_ENGLISH.items()},
}


def translations(source: str, target: str) -> dict[str, str]:
    """Names in the source language with their translations; none for other languages.

    Example:

    >>> translations("jpn", "en")["ニューヨーク"], translations("ja", "de")
    ('New York', {})
    """
    return _TRANSLATIONS.get((code_of(source), code_of(target)), {})

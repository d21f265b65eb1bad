"""A person who sees the page for the first time, with the server of a model."""


def test_type_see_choose_another_piece_and_open_the_facts(page, ask, server):
    page.write("猫が寝る。")
    assert page.translated() == "1: 猫が寝る。"
    page.attended()
    pieces = page.all("#alternatives .shown > .shares button")
    assert pieces[3].text == "猫 75%"
    pieces[3].click()
    others = page.all("#instead button")
    names = [one.accessible_name for one in others]
    assert names == ["猫 75%", "a 13%", "b 6%", "c 3%", "the end 3%"]
    others[2].click()
    page.wait("return !document.getElementById('alternative').hidden")
    assert page.all("#alternative p")[0].text == "Another translation from b on: 1: b"
    instance = {"text": "猫が寝る。", "prefix_pieces": ["1", ":", " ", "b"]}
    assert ask("continue", instance)["translation"] == "1: b"
    page.all("#alternative button")[0].click()
    assert len(page.all(".target li")) == len("1: 猫が寝る。") + 1
    page.all("#about > summary")[0].click()
    assert "Search" in page.text("facts") and "beam of 4" in page.text("facts")
    assert page.text("translation") == "1: 猫が寝る。"

"""The page of a server with several models."""

import pytest

from tests.serving.browser import Page

pytestmark = pytest.mark.slow


def test_links_lead_to_each_model(driver, write_echo, tmp_path, start_server):
    for name in ("ja-en", "other"):
        write_echo(tmp_path / name, 1)
    with start_server(tmp_path) as url:
        page = Page(driver, url, 1280, "light")
        links = page.all("#models a")
        assert [link.text for link in links] == ["ja-en", "other"]
        assert links[0].get_attribute("aria-current") == "page"
        links[1].click()
        page.wait("return document.getElementById('model').textContent === 'other, version 1'")
        page.write("猫")
        assert page.translated() == "1: 猫"


def test_one_model_needs_no_links(page):
    assert not page.one("models").is_displayed()

import pytest

from keras_attn.translation.config import Config


@pytest.fixture
def client(echo, open_client):
    with open_client(echo, max_characters=300) as client:
        yield client


def test_the_page_loads_nothing_from_elsewhere(client, examples):
    for path in ("/", "/docs"):
        response = client.get(path)
        assert response.headers["content-type"].startswith("text/html")
        assert "default-src 'self'" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
    for path in ("/", "/docs", "/page/page.js"):
        assert client.get(path).headers["cache-control"] == "no-cache"
    assert client.get("/page/settings.json").json() == {
        "name": "ja-en",
        "version": 1,
        "source": "ja",
        "target": "en",
        "max_characters": 300,
        "max_pieces": Config().max_pieces,
        "examples": examples,
        "facts": {
            "Trained on": Config().data,
            "Layers": "4 of the encoder, 2 of the decoder",
            "Width": "256, with 4 heads",
            "Search": "beam of 4",
            "Precision": "float32",
        },
        "models": ["ja-en"],
        "can_stream": True,
    }


@pytest.mark.parametrize("path", ["/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py"])
def test_no_file_beside_the_page_is_given(client, path):
    assert client.get(path).status_code == 404

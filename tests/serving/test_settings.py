import pytest

from keras_attn.serving.settings import Settings


def test_defaults_can_be_used():
    Settings().validate()


def test_every_fault_is_named_at_once():
    settings = Settings(port=-1, batch_rows=0, max_seconds=0.0, batch_wait=-1.0, queue_rows=3)
    with pytest.raises(ValueError, match="cannot be started") as caught:
        settings.validate()
    for name in ("port", "batch_rows", "max_seconds", "batch_wait", "queue_rows"):
        assert f"`{name}`" in str(caught.value)


@pytest.mark.parametrize("name", ["max_seconds", "poll_seconds", "batch_wait"])
def test_not_a_number_is_refused(name):
    with pytest.raises(ValueError, match=name):
        Settings(**{name: float("nan")}).validate()


@pytest.mark.parametrize(
    ("name", "value"),
    [("root_path", "translate"), ("cors_origin", "example.com"), ("cors_origin", "https://a/b")],
)
def test_paths_and_origins_are_checked(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must"):
        Settings(**{name: value}).validate()


def test_origins_are_separated_by_commas():
    settings = Settings(cors_origin="https://a.example, http://localhost:3000")
    settings.validate()
    assert settings.cors_origins == ["https://a.example", "http://localhost:3000"]

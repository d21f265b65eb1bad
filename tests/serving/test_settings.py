import pytest

from keras_attn.serving.settings import Settings


def test_every_fault_is_named_at_once():
    settings = Settings(port=-1, batch_rows=0, max_seconds=0.0, batch_wait=-1.0, queue_rows=3)
    with pytest.raises(ValueError, match="cannot be started") as caught:
        settings.validate()
    for name in ("port", "batch_rows", "max_seconds", "batch_wait", "queue_rows"):
        assert f"`{name}`" in str(caught.value)


def test_each_value_that_cannot_be_used_is_refused_by_its_name():
    faults = [(name, float("nan")) for name in ("max_seconds", "poll_seconds", "batch_wait")]
    faults += [("cors_origin", value) for value in ("example.com", "https://a/b")]
    for name, value in (*faults, ("root_path", "translate")):
        with pytest.raises(ValueError, match=f"`{name}` must"):
            Settings(**{name: value}).validate()


def test_defaults_can_be_used_and_origins_are_separated_by_commas():
    Settings().validate()
    settings = Settings(cors_origin="https://a.example, http://localhost:3000")
    settings.validate()
    assert settings.cors_origins == ["https://a.example", "http://localhost:3000"]

import pytest
from keras_attn_data import cache


def test_the_environment_variable_names_the_folder_which_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path / "a" / "b"))
    assert cache.folder() == tmp_path / "a" / "b"
    assert cache.folder().is_dir()
    (tmp_path / "file").touch()
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ValueError, match="cannot be created.*file/cache.*KERAS_ATTN_CACHE"):
        cache.folder()


def test_without_the_variable_it_is_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("KERAS_ATTN_CACHE", raising=False)
    monkeypatch.setattr(cache.platformdirs, "user_cache_dir", lambda name: str(tmp_path / name))
    assert cache.folder() == tmp_path / "keras_attn"

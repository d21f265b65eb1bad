import asyncio
import shutil

import numpy as np
import pytest

from keras_attn.serving.errors import RequestError
from keras_attn.serving.servable import Servable
from keras_attn.serving.versions import Versions
from keras_attn.translation.versions import write_sizes


def look_at(folder):
    versions = Versions("ja-en", folder, poll_seconds=1.0)
    asyncio.run(versions.look())
    return versions


def served(versions):
    return {one.version: one.state for one in versions.statuses(None)}


def test_the_highest_number_is_served(echo, write_echo):
    write_echo(echo, 10)
    write_echo(echo, 9)
    versions = look_at(echo)
    assert versions.current.version == 10
    assert served(versions) == {10: "AVAILABLE"}


def test_other_folders_are_no_versions(echo, write_echo):
    for name in ("2-old", "x3", ".4", "５", "008"):
        shutil.copytree(echo / "1", echo / name)
    (echo / "6").mkdir()  # nothing in it yet
    (echo / "7").touch()
    assert look_at(echo).current.version == 1


def test_an_old_version_stays_until_its_last_request_ends(echo, write_echo):
    async def scenario():
        versions = Versions("ja-en", echo, poll_seconds=1.0)
        await versions.look()
        with versions.use(None) as first:
            write_echo(echo, 2)
            await versions.look()
            assert served(versions) == {2: "AVAILABLE", 1: "UNLOADING"}
            with versions.use(None) as second:
                assert (first.version, second.version) == (1, 2)
            with pytest.raises(RequestError, match="Servable not found"), versions.use(1):
                pass
        assert served(versions) == {2: "AVAILABLE", 1: "END"}

    asyncio.run(scenario())


def test_a_version_that_is_mended_is_loaded(echo, write_echo):
    async def scenario():
        (echo / "2").mkdir()
        (echo / "2" / "saved_model.pb").write_bytes(b"half a file")
        versions = Versions("ja-en", echo, poll_seconds=1.0)
        await versions.look()
        assert served(versions) == {1: "AVAILABLE", 2: "END"}
        shutil.rmtree(echo / "2")
        write_echo(echo, 2)
        await versions.look()
        assert versions.current.version == 2

    asyncio.run(scenario())


@pytest.mark.parametrize("has_sizes", [True, False])
@pytest.mark.parametrize("is_running", [True, False])
def test_a_copy_that_was_cut_off_is_never_served(
    echo, write_echo, caplog, tmp_path, is_running, has_sizes
):
    whole = write_echo(tmp_path / "elsewhere", 2)
    if has_sizes:
        write_sizes(whole)

    async def scenario():
        versions = Versions("ja-en", echo, poll_seconds=1.0)
        if is_running:
            await versions.look()
        shutil.copytree(whole, echo / "2")
        (data,) = (echo / "2").glob("variables/variables.data*")
        content = data.read_bytes()
        data.unlink()
        await versions.look()
        data.write_bytes(content[: len(content) // 2])
        await versions.look()
        await versions.look()
        assert versions.current.version == 1
        assert served(versions) == {1: "AVAILABLE", 2: "END"}
        warnings = [record for record in caplog.records if record.levelname != "INFO"]
        assert len(warnings) == 2 and {record.version for record in warnings} == {2}
        assert "variables.data is missing" in f"{warnings[0].reason}".replace("-00000-of-00001", "")
        data.write_bytes(content)
        await versions.look()
        assert versions.current.version == 2

    asyncio.run(scenario())


@pytest.mark.parametrize("number", [1, 2])
def test_only_the_first_is_served_before_it_is_warm(echo, write_echo, monkeypatch, number):
    seen = []

    async def scenario():
        versions = Versions("ja-en", echo, poll_seconds=1.0)

        def requests(servable):
            seen.append(versions.current.version)
            yield "serving_default", {"text": np.array([b"a"], object)}

        monkeypatch.setattr(Servable, "warm_up_requests", requests)
        for version in range(1, number + 1):
            if version > 1:
                write_echo(echo, version)
            await versions.look()
            assert versions.current.version == version
            assert versions.is_warm

    asyncio.run(scenario())
    assert seen == [1, 1][:number]


def test_a_version_that_cannot_answer_its_own_requests_is_not_served(echo, monkeypatch):
    requests = [("steal", {})]
    monkeypatch.setattr(Servable, "warm_up_requests", lambda servable: requests)
    versions = look_at(echo)
    assert versions.current is None
    assert not versions.is_warm
    (status,) = versions.statuses(None)
    assert status.state == "END"
    assert '"steal" not found' in status.error


def test_who_is_told_to_stop_does_not_answer_the_rest_of_the_requests(echo, monkeypatch):
    asked = []

    async def scenario():
        versions = Versions("ja-en", echo, poll_seconds=1.0)
        looking = asyncio.create_task(versions.look())

        def requests(servable):
            for number in range(1000):
                asked.append(number)
                yield "serving_default", {"text": np.array([b"a"], object)}
                if number == 2:
                    looking.cancel()

        monkeypatch.setattr(Servable, "warm_up_requests", requests)
        with pytest.raises(asyncio.CancelledError):
            await looking

    asyncio.run(scenario())
    assert len(asked) < 10


def test_when_all_are_taken_away_the_last_goes_on(echo):
    async def scenario():
        versions = Versions("ja-en", echo, poll_seconds=1.0)
        await versions.look()
        shutil.rmtree(echo / "1")
        await versions.look()
        with versions.use(None) as servable:
            assert servable.version == 1

    asyncio.run(scenario())


def test_an_unknown_version_has_no_status(echo):
    with pytest.raises(RequestError, match="Could not find version 7 of model ja-en") as caught:
        look_at(echo).statuses(7)
    assert caught.value.status == 404

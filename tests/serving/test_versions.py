import asyncio
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from keras_attn.serving.errors import RequestError
from keras_attn.serving.models import check
from keras_attn.serving.servable import Servable
from keras_attn.serving.versions import Versions
from keras_attn.translation.decoding.search import LENGTHS
from keras_attn.translation.export.warmup_requests import FIRST_LENGTHS
from keras_attn.translation.versions import write_sizes


@pytest.fixture
def versions(echo):
    return Versions("ja-en", echo, poll_seconds=1.0)


def states(versions):
    return {one.version: one.state for one in versions.statuses(None)}


def test_the_highest_number_is_served_and_other_folders_are_no_versions(echo, versions):
    (echo / "11").mkdir()  # nothing in it yet
    (echo / "12").touch()
    for name in ("9", "10", "20-old", "x30", ".40", "５０", "0080"):
        shutil.copytree(echo / "1", echo / name)
    asyncio.run(versions.poll())
    assert versions.current.version == 10
    assert states(versions) == {10: "AVAILABLE"}
    with pytest.raises(RequestError, match="Could not find version 7 of model ja-en"):
        versions.statuses(7)


def test_a_newer_version_that_cannot_be_served_is_skipped(echo, versions, monkeypatch, caplog):
    (echo / str(2**63)).symlink_to("1")
    (echo / ("9" * 200)).symlink_to("1")
    shutil.copytree(echo / "1", echo / "7")
    stat = Path.stat

    def refused(path, **options):
        if "7" in path.parts[:-1]:
            raise PermissionError(13, "Permission denied")
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", refused)
    check(echo)
    for _ in range(2):
        asyncio.run(versions.poll())
    assert states(versions) == {1: "AVAILABLE", 7: "END"}
    assert "cannot be read: Permission denied" in versions.statuses(7)[0].error
    assert [one.version for one in caplog.records if one.levelname == "WARNING"] == [7]


def test_an_error_of_one_model_is_told_of_and_ends_no_watching(versions, monkeypatch, caplog):
    async def fail():
        raise ValueError("a fault")

    async def scenario():
        monkeypatch.setattr(versions, "poll", fail)
        versions._poll_seconds = 0.01
        watching = asyncio.create_task(versions.watch())
        await asyncio.sleep(0.1)
        monkeypatch.undo()
        while versions.current is None:
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(asyncio.wait_for(scenario(), 60))
    assert [one.error for one in caplog.records if one.levelname == "WARNING"] == ["a fault"]


def test_a_folder_that_is_removed_is_told_of_once(echo, open_client, wait_until, caplog):
    with open_client(echo, poll_seconds=0.02) as client:
        path = "/v1/models/ja-en/metadata"
        before = client.get(path).json()
        shutil.rmtree(echo)
        wait_until(lambda: "cannot be read" in caplog.text)
        time.sleep(0.2)
        assert client.get(path).json() == before
    warned = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert sorted(warned) == ["The folder cannot be read.", "The models cannot be read."]


def test_an_old_version_stays_until_its_last_request_ends(echo, write_echo, versions):
    async def scenario():
        await versions.poll()
        with versions.use(None) as first:
            write_echo(echo, 2)
            await versions.poll()
            assert states(versions) == {2: "AVAILABLE", 1: "UNLOADING"}
            with versions.use(None) as second:
                assert (first.version, second.version) == (1, 2)
            with pytest.raises(RequestError, match="Servable not found"), versions.use(1):
                pass
        assert states(versions) == {2: "AVAILABLE", 1: "END"}
        for number in (1, 2):
            shutil.rmtree(echo / str(number))
        await versions.poll()
        assert versions.current.version == 2  # when all are taken away, the last goes on

    asyncio.run(scenario())


@pytest.mark.parametrize("has_sizes", [True, False])
def test_a_cut_off_copy_waits_for_its_rest(echo, write_echo, versions, caplog, tmp_path, has_sizes):
    whole = write_echo(tmp_path / "elsewhere", 2)
    if has_sizes:
        write_sizes(whole)

    async def scenario():
        if has_sizes:  # the server is running
            await versions.poll()
        shutil.copytree(whole, echo / "2")
        (data,) = (echo / "2").glob("variables/variables.data*")
        content = data.read_bytes()
        data.unlink()
        await versions.poll()
        data.write_bytes(content[: len(content) // 2])
        await versions.poll()
        await versions.poll()
        assert versions.current.version == 1
        assert states(versions) == {1: "AVAILABLE", 2: "END"}
        warnings = [record for record in caplog.records if record.levelname != "INFO"]
        assert len(warnings) == 2 and {record.version for record in warnings} == {2}
        assert "variables.data is missing" in f"{warnings[0].reason}".replace("-00000-of-00001", "")
        data.write_bytes(content)
        await versions.poll()
        assert versions.current.version == 2

    asyncio.run(scenario())


def test_only_the_first_is_served_before_it_is_warm(echo, write_echo, versions, monkeypatch):
    seen = []

    def requests(servable):
        seen.append(versions.current.version)
        yield "serving_default", {"text": np.array([b"a"], object)}

    monkeypatch.setattr(Servable, "warm_up_requests", requests)
    asyncio.run(versions.poll())
    assert versions.current.version == 1 and versions.is_warm
    write_echo(echo, 2)
    asyncio.run(versions.poll())
    assert versions.current.version == 2
    assert seen == [1, 1]


def test_a_server_is_ready_when_short_texts_are_compiled_and_compiles_longer_ones_behind(
    versions, monkeypatch
):
    compiled = []  # length, and whether the server is ready

    def compile_length(servable, name, inputs):
        compiled.append((inputs["length"], versions.is_warm))

    lengths = [{"length": length} for length in LENGTHS]
    monkeypatch.setattr(Servable, "warm_up_requests", lambda _: (("compile", x) for x in lengths))
    monkeypatch.setattr(Servable, "warm_up", compile_length)
    ready = property(lambda _: len(compiled) >= len(FIRST_LENGTHS))
    monkeypatch.setattr(Servable, "has_first_lengths", ready)

    async def scenario():
        watching = asyncio.create_task(versions.watch())
        while len(compiled) < len(LENGTHS):
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(asyncio.wait_for(scenario(), 60))
    assert compiled == [(length, length not in FIRST_LENGTHS) for length in LENGTHS]


def test_a_version_that_cannot_answer_its_own_requests_is_not_served(versions, monkeypatch):
    monkeypatch.setattr(Servable, "warm_up_requests", lambda servable: [("steal", {})])
    asyncio.run(versions.poll())
    assert versions.current is None and not versions.is_warm
    (status,) = versions.statuses(None)
    assert status.state == "END" and '"steal" not found' in status.error


def test_who_is_told_to_stop_does_not_answer_the_rest_of_the_requests(versions, monkeypatch):
    asked = []

    async def scenario():
        looking = asyncio.create_task(versions.poll())

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

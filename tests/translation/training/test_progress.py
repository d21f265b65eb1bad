import pytest

from keras_attn.translation.training import progress


class TenTokens:
    def num_tokens(self, step):
        return 10


class Clock:
    seconds_left = 125.0


@pytest.fixture
def shown(monkeypatch):
    """A `Progress` in a log, with a time that the test sets."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return progress.Progress(TenTokens(), Clock(), start_step=0), now


def test_counts_real_tokens_per_second_without_the_first_step(shown):
    callback, now = shown
    callback.on_epoch_begin(0)
    for seconds in (30.0, 2.0, 2.0):  # the first builds the graph
        now[0] += seconds
        callback.on_train_batch_end(0, {"loss": 1.0})
    assert callback.tokens_per_second == pytest.approx(2 * 10 / 4.0)


def test_a_log_gets_a_line_now_and_then(shown, capsys):
    callback, now = shown
    callback.on_epoch_begin(1)
    for seconds in (1.0, progress.LOG_SECONDS, 1.0):
        now[0] += seconds
        callback.on_train_batch_end(0, {"loss": 1.25})
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("epoch 2  step 2  loss 1.250") and line.endswith("2:05 left")


def test_says_lines_of_their_own(shown, capsys):
    shown[0].say("Going on.")
    assert capsys.readouterr().err == "Going on.\n"

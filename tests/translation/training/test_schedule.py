import numpy as np
import pytest

from keras_attn.translation.training.schedule import WarmUpStableDecay


def test_rate_rises_in_a_line_then_stays_and_sinks_in_a_long_training():
    schedule = WarmUpStableDecay(peak=0.5, warmup_steps=10, cooldown_fraction=0.4)
    rates = [float(schedule(step)) for step in (0, 1, 9, 10, 674, 675, 1349, 2699)]
    sunk = [0.5 * (675 / n) ** 0.5 for n in (676, 1350, 2700)]
    np.testing.assert_allclose(rates, [0.05, 0.1, 0.5, 0.5, 0.5, *sunk], rtol=1e-5)
    # A warm-up longer than the rate would stay never passes what it has sunk to.
    schedule = WarmUpStableDecay(peak=1.0, warmup_steps=2700, cooldown_fraction=0.4)
    rates = [float(schedule(step)) for step in (*range(0, 4000, 100), 2699)]
    assert max(rates) < 0.7
    np.testing.assert_allclose(rates[-1], 0.5, rtol=1e-6)
    assert float(WarmUpStableDecay(0.1, 7, 0.3, inverse_sqrt_start=90)(359)) == pytest.approx(0.05)


def test_rate_falls_to_zero_over_the_last_part_of_the_time():
    schedule = WarmUpStableDecay(peak=0.5, warmup_steps=10, cooldown_fraction=0.4)
    for left, rate in ((1.0, 0.5), (0.4, 0.5), (0.1, 0.125), (0.0, 0.0)):
        schedule.left.assign(left)
        for step in (9, 99, 674):
            assert float(schedule(step)) == pytest.approx(rate)
    # In a training that ends within the warm-up, too.
    schedule.left.assign(0.08)
    assert [float(schedule(step)) for step in (0, 4)] == pytest.approx([0.05, 0.1])


def test_without_a_number_of_steps_the_rate_rises_over_a_twelfth_of_the_budget():
    schedule = WarmUpStableDecay(peak=0.5, warmup_steps=0, cooldown_fraction=0.4)
    for done, rate in ((0, 0), (1 / 48, 0.125), (1 / 12, 0.5), (0.2, 0.5)):
        schedule.done.assign(done)
        assert [float(schedule(step)) for step in (0, 600)] == pytest.approx([rate, rate])

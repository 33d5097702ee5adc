"""Deadlines, and the one of a response."""

import pytest

from framework.resilience.deadline import Deadline, has_response_deadline, limit_timeout, response_deadline


def test_a_deadline_has_less_time_left_each_moment_and_never_less_than_none() -> None:
    later = Deadline.after(60)
    assert 59 < later.timeout_s() <= later.remaining_s + 1 <= 61
    past = Deadline.after(-1)
    assert past.remaining_s == 0
    with pytest.raises(TimeoutError, match="The deadline has passed"):
        past.timeout_s()


def test_a_timeout_is_shortened_to_the_deadline_of_the_response(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framework.resilience.deadline.RESPONSE_TIMEOUT_S", 3.0)
    assert (has_response_deadline(), limit_timeout(10.0)) == (False, 10.0)
    with response_deadline():
        assert has_response_deadline()
        assert limit_timeout(1.0) == 1.0
        assert 2.9 < limit_timeout(10.0) <= 3.0
        assert 0.9 < limit_timeout(10.0, reserve_s=2.0) <= 1.0
        assert limit_timeout(10.0, reserve_s=4.0) == 0.0
    assert not has_response_deadline()

"""Writes that outlast a restart of PostgreSQL."""

import pytest
from django.db import OperationalError, connection

from framework.db import retry
from framework.db.retry import retry_on_disconnect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.exhaustive
def test_a_write_is_repeated_on_a_new_connection_after_a_disconnect() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        before = cursor.fetchone()
    errors: list[Exception] = []
    seen = []

    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            seen.append(cursor.fetchone())
            if not errors:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    assert retry_on_disconnect(write, on_disconnect=errors.append)
    assert len(errors) == 1
    assert seen[0] == before
    assert seen[1] != before


def test_a_write_is_given_up_after_the_timeout_and_other_errors_are_raised_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE_S", 0.01)
    tries = []

    def away() -> None:
        tries.append(1)
        raise OperationalError("away")

    # Pauses of 10, 20 and 40 ms; the next would end after the timeout.
    assert not retry_on_disconnect(away, timeout_s=0.1)
    assert len(tries) == 4
    with pytest.raises(ZeroDivisionError):
        retry_on_disconnect(lambda: 1 // 0)

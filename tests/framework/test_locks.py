"""Advisory locks, on real connections."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection, transaction
from django.db.transaction import TransactionManagementError

from framework.db.locks import AdvisoryLock

pytestmark = pytest.mark.django_db(transaction=True)

LOCK, OTHER = AdvisoryLock("test"), AdvisoryLock("other test")


@pytest.fixture
def elsewhere() -> Iterator[ThreadPoolExecutor]:
    """A thread with a connection of its own."""
    with ThreadPoolExecutor(1) as thread:
        yield thread
        thread.submit(lambda: connection.close()).result()


def is_free(lock: AdvisoryLock, key: object = "", *, shared: bool = False) -> bool:
    with transaction.atomic():
        return lock.try_acquire(key, shared=shared)


def test_lock_of_a_transaction_ends_with_it(elsewhere: ThreadPoolExecutor) -> None:
    with transaction.atomic():
        LOCK.acquire()
        assert elsewhere.submit(is_free, LOCK).result() is False
        assert elsewhere.submit(is_free, LOCK, "key").result() is True
        assert elsewhere.submit(is_free, OTHER).result() is True
    assert elsewhere.submit(is_free, LOCK).result() is True


def test_waiting_ends_by_the_lock_timeout(elsewhere: ThreadPoolExecutor) -> None:
    with transaction.atomic():
        assert LOCK.try_acquire("key")

        def wait() -> None:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = 50")
                LOCK.acquire("key")

        with pytest.raises(OperationalError, match="lock timeout"):
            elsewhere.submit(wait).result()


def test_shared_locks_exclude_exclusive_ones_alone(elsewhere: ThreadPoolExecutor) -> None:
    with transaction.atomic():
        LOCK.acquire(shared=True)
        assert elsewhere.submit(is_free, LOCK, shared=True).result() is True
        assert elsewhere.submit(is_free, LOCK).result() is False


def test_outside_of_a_transaction_there_is_no_lock_of_one() -> None:
    with pytest.raises(TransactionManagementError, match="'test' needs a transaction"):
        LOCK.acquire()
    with pytest.raises(TransactionManagementError):
        LOCK.try_acquire()


@pytest.mark.parametrize("shared", [False, True])
def test_session_lock_outlives_transactions_and_ends_with_its_block(
    elsewhere: ThreadPoolExecutor, *, shared: bool
) -> None:
    def try_session() -> bool:
        with LOCK.session() as is_mine:
            return is_mine

    with pytest.raises(ValueError, match="after"), LOCK.session(shared=shared) as is_mine:  # noqa: PT012
        assert is_mine
        with transaction.atomic():
            pass
        assert elsewhere.submit(try_session).result() is False
        raise ValueError("after")
    assert elsewhere.submit(try_session).result() is True


def test_session_lock_is_tried_again_until_it_is_free(elsewhere: ThreadPoolExecutor) -> None:
    def wait() -> bool:
        with LOCK.session(retry_every_s=0.01) as is_mine:
            return is_mine

    with LOCK.session():
        waiting = elsewhere.submit(wait)
        assert not waiting.done()
    assert waiting.result(timeout=5) is True


def test_session_lock_ends_with_its_connection(elsewhere: ThreadPoolExecutor) -> None:
    with LOCK.session() as is_mine:
        assert is_mine
        connection.close()
        assert elsewhere.submit(is_free, LOCK).result() is True


def test_a_name_is_declared_once() -> None:
    with pytest.raises(ValueError, match="declared twice"):
        AdvisoryLock("test")


def test_numbers_differ_by_name_and_key_and_stay_the_same() -> None:
    assert LOCK.number() == -3551308991120709321
    assert len({LOCK.number(), LOCK.number("key"), OTHER.number(), OTHER.number("key")}) == 4

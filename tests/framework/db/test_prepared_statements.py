"""Statements without Django's cursor: what they give, and what becomes of them when the connection dies."""

import datetime as dt
from decimal import Decimal

import psycopg
import pytest
from django.db import OperationalError, ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext

from framework.db import prepared_statements


def end_my_connection() -> None:
    """As a restart of PostgreSQL does it to a connection that rests."""
    [(pid,)] = prepared_statements.fetch_all("SELECT pg_backend_pid()")
    with psycopg.connect(connection.connection.info.dsn, password=connection.settings_dict["PASSWORD"]) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_died_at_rest_is_replaced_unseen() -> None:
    assert prepared_statements.fetch_one("SELECT 1") == (1,)
    end_my_connection()
    assert prepared_statements.fetch_one("SELECT %s::integer", [2]) == (2,)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_in_a_transaction_nothing_is_asked_again() -> None:
    def asked_after_the_end() -> None:
        with transaction.atomic():
            end_my_connection()
            prepared_statements.fetch_one("SELECT 1")

    with pytest.raises(OperationalError):
        asked_after_the_end()
    connection.close()


@pytest.mark.django_db
def test_errors_are_those_of_django() -> None:
    with pytest.raises(ProgrammingError), transaction.atomic():
        prepared_statements.fetch_all("SELECT nonsense")


@pytest.mark.django_db
def test_statements_return_the_same_while_they_are_counted() -> None:
    statement = "SELECT %(moment)s::timestamptz, ARRAY[1, 2], 'a'::text, '{\"a\": 1}'::jsonb, 4.5::numeric WHERE 1 = 1"
    values = {"moment": dt.datetime(2026, 11, 22, 15, tzinfo=dt.UTC)}
    plain = prepared_statements.fetch_all(statement, values)
    with CaptureQueriesContext(connection) as captured:
        assert prepared_statements.fetch_all(statement, values) == plain
        assert prepared_statements.execute_returning(statement, values) == plain
    assert len(captured) == 2
    assert [type(value) for value in plain[0]] == [dt.datetime, list, str, dict, Decimal]


@pytest.mark.django_db
def test_no_row_is_none() -> None:
    assert prepared_statements.fetch_one("SELECT 1 WHERE false") is None


@pytest.mark.django_db(transaction=True)
def test_what_writes_is_not_asked_again_for_it_may_have_been_done() -> None:
    end_my_connection()
    with pytest.raises(OperationalError):
        prepared_statements.execute_returning("SELECT 1")
    connection.close()
    assert prepared_statements.execute_returning("SELECT 1") == [(1,)]

"""What single rows of the benchmark rest on: a formula, counters, scripts, and files that are read again."""

import gzip
from uuid import UUID

import pytest
import redis
from django.conf import settings
from django.db import connection

from benchmarks import export_rows, geography, memory, orders, rate_limit
from benchmarks.growth import time_statements


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("first", "second", "metres"),
    [
        # A degree of the equator, and one of a meridian.
        ((0.0, 0.0), (0.0, 1.0), 111_195.08),
        ((10.0, 20.0), (11.0, 20.0), 111_195.08),
        # Half around, where a formula by arcs of cosine loses its digits; and beyond the date line.
        ((0.0, 0.0), (0.0, 180.0), 20_015_114.35),
        ((0.0, 179.5), (0.0, -179.5), 111_195.08),
        # Copenhagen to Lisbon, by vectors; and a table beside the door.
        ((55.6761, 12.5683), (38.7223, -9.1393), 2_477_423.34),
        ((55.6761, 12.5683), (55.6761, 12.5684), 6.2703),
        ((55.6761, 12.5683), (55.6761, 12.5683), 0.0),
    ],
)
def test_brute_force_measures_along_the_ground(
    first: tuple[float, float], second: tuple[float, float], metres: float
) -> None:
    place = "(SELECT %(latitude)s::float8 AS latitude, %(longitude)s::float8 AS longitude) AS place"
    values = {"lat": first[0], "lng": first[1], "latitude": second[0], "longitude": second[1]}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {geography.METRES} FROM {place}", values)  # noqa: S608  # of constants
        ((found,),) = cursor.fetchall()
    assert found == pytest.approx(metres, rel=1e-6, abs=1e-3)


def test_what_a_request_tells_valkey_is_counted_without_what_others_do() -> None:
    before = rate_limit.parse_commandstats(
        "# Commandstats\r\ncmdstat_set:calls=10,usec=5,usec_per_call=0.5\r\ncmdstat_ping:calls=1\r\n"
    )
    payload = "cmdstat_set:calls=210,usec=9\r\ncmdstat_incrby:calls=200,usec=9\r\ncmdstat_client|setinfo:calls=4\r\n"
    after = rate_limit.parse_commandstats(payload.encode())
    assert before == {"set": 10, "ping": 1}
    assert rate_limit.commands_per_request(before, after, 200) == {"set": 1.0, "incrby": 1.0}
    assert rate_limit.parse_commandstats({"cmdstat_incrby": {"calls": 7, "usec": 1}}) == {"incrby": 7}


def test_each_sending_is_a_round_trip_however_many_commands_it_holds() -> None:
    store = redis.Redis.from_url(settings.REDIS_URL)
    with store:
        store.ping()
        with rate_limit.record_sends() as sent:
            store.ping()
            with store.pipeline(transaction=False) as pipe:
                pipe.ping()
                pipe.ping()
                pipe.execute()
    assert len(sent) == 2


@pytest.mark.exhaustive
def test_the_count_of_a_request_is_one_round_trip() -> None:
    rate_limit.time_count()
    with rate_limit.record_sends() as sent:
        rate_limit.time_count()
    assert len(sent) == rate_limit.COUNTS + 1


def test_memory_is_read_with_its_share_of_what_is_shared() -> None:
    payload = (
        "55-7f ---p 0 00:00 0 [rollup]\nRss:              200000 kB\nPss:              150000 kB\nPss_Dirty: 9 kB\n"
    )
    held = memory.parse_smaps(payload)
    assert (round(held.proportional, 1), round(held.resident, 1)) == (153.6, 204.8)
    assert memory.parse_smaps("") == memory.MemoryUse()
    assert str(held + held) == "PSS 307, RSS 410"


def test_lines_of_a_gzip_file_are_counted_through_all_its_members() -> None:
    content = gzip.compress(b"1\n2\n") + gzip.compress(b"3\n" * 1000)
    pieces = [content[at : at + 7] for at in range(0, len(content), 7)]
    assert export_rows.count_lines(iter(pieces)) == 1002
    assert export_rows.count_lines(iter([])) == 0


def test_a_script_of_an_order_has_ids_of_its_own_and_no_variables_by_chance() -> None:
    one, key = UUID("019a0000000070008000000000000001"), "0123456789abcdef"
    texts = [
        f"INSERT INTO\n  orders_order VALUES ('{one.hex}'::uuid, '{one}')",  # noqa: S608  # sent nowhere
        f"UPDATE t SET a = '{key}', b = '{{\"x\":null,\"y\":1}}'::jsonb, c = 'key:rk_live', d = '10:15:00'",  # noqa: S608  # as above
    ]
    script = orders.to_pgbench_script(texts, ids=[one], key=key)
    assert script.startswith("\\set number :number + 1\nBEGIN;\nINSERT INTO orders_order VALUES (('<<this round>>'")
    assert script.endswith("\nCOMMIT;\n")
    assert str(one) not in script
    assert one.hex not in script
    assert key not in script
    assert script.count(":client_id") == 3
    assert "'{\"x\": null,\"y\":1}'::jsonb, c = 'key: rk_live', d = '10:15:00'" in script


@pytest.mark.django_db
def test_the_time_of_statements_is_that_of_the_database_alone() -> None:
    with time_statements() as clock, connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.02)")
    assert 20 <= clock.ms < 1000
    with time_statements() as clock:
        pass
    assert clock.ms == 0.0

"""Machines that die, and cables that are cut, under load: what was said stays true, and how long it takes to go on."""

import time
from collections.abc import Iterator

import pytest

from tests.cluster.figures import tell
from tests.cluster.replication import Member
from tests.cluster.topology import Cluster, begun, payload, reading
from tests.support.live_stack import eventually

pytestmark = pytest.mark.cluster

ASKED = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%catalogue_%' AND pid <> pg_backend_pid()"
READS = ("/v1/restaurants?limit=5", "/v1/markets", "/v1/restaurants?near=tivoli&limit=3")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """All machines, for all of these tests."""
    with begun(tmp_path_factory.mktemp("site")) as made:
        made.serve_all()
        yield made


@pytest.fixture
def replica(shop: Cluster) -> Iterator[Member]:
    """A third server of PostgreSQL, for which no commit waits."""
    if "pg3" not in shop.site.machines:
        shop.site.machine("pg3")
    made = Member(shop.site.machines["pg3"], shop.pair.primary.password)
    made.copy(shop.pair.primary, name="replica")
    made.start()
    yield made
    made.machine.kill()
    made.machine.mend()


def test_no_acknowledged_order_is_lost_when_the_primary_is_killed_and_the_standby_takes_its_place(
    shop: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with shop.ordering(customer="ada") as seen:
        killed = time.monotonic()
        shop.pair.primary.machine.kill()
        time.sleep(0.5)
        promoted = time.monotonic()
        shop.pair.promote()
        time.sleep(8)
    shop.check(seen, customer="ada")
    tell(
        capsys,
        f"primary killed: {len(seen.acknowledged)} orders acknowledged, 0 lost; {payload(seen.statuses)};"
        f" next 201 {seen.first_after(killed + 0.1):.1f} s after the kill,"
        f" {seen.first_after(promoted):.1f} s after the promotion; gap {seen.gap():.1f} s",
    )
    assert seen.first_after(promoted) < 5
    shop.pair.follow()


def test_no_acknowledged_order_is_lost_when_the_cable_of_the_primary_is_cut(
    shop: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with shop.ordering(customer="grace", after_s=6) as seen:
        shop.pair.primary.machine.cut()
        time.sleep(1)
        promoted = time.monotonic()
        shop.pair.promote()
        time.sleep(10)
    shop.check(seen, customer="grace")
    tell(
        capsys,
        f"cable of the primary cut: {len(seen.acknowledged)} orders acknowledged, 0 lost; {payload(seen.statuses)};"
        f" next 201 {seen.first_after(promoted):.1f} s after the promotion; gap {seen.gap():.1f} s",
    )
    assert seen.gap() < 12
    shop.pair.standby.machine.kill()
    shop.pair.standby.machine.mend()
    shop.pair.follow()


def test_readers_do_not_see_that_a_web_server_is_killed(shop: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    with reading(shop, *READS) as seen:
        shop.webs[0].kill()
    tell(
        capsys,
        f"one of two web servers killed: {payload(seen.statuses)}, {sum(seen.broken.values())} connections broken,"
        f" the slowest answer {max(seen.took_s):.2f} s, the longest silence {seen.gap():.2f} s",
    )
    assert not seen.broken
    assert max(seen.statuses) < 500
    shop.serve_all()


def test_orders_are_made_once_when_a_web_server_is_killed(shop: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    with shop.ordering(customer="alan") as seen:
        shop.webs[1].kill()
    shop.check(seen, customer="alan")
    tell(
        capsys,
        f"one of two web servers killed under orders: {payload(seen.statuses)};"
        f" gap {seen.gap():.2f} s; 0 lost, 0 twice",
    )
    shop.serve_all()


@pytest.mark.parametrize("way", ["kill", "cut"])
def test_reads_go_on_from_the_primary_when_the_replica_is_gone(
    shop: Cluster, replica: Member, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.serve_all(REPLICA_URL=replica.url)
    with reading(shop, *READS) as seen:
        assert eventually(lambda: replica.ask(ASKED) > 0, within_s=20), "nobody has asked it"
        getattr(replica.machine, way)()
    tell(
        capsys,
        f"replica {'killed' if way == 'kill' else 'without its cable'}: {payload(seen.statuses)},"
        f" the slowest answer {max(seen.took_s):.2f} s, the longest silence {seen.gap():.2f} s",
    )
    assert not seen.broken
    assert max(seen.statuses) < 500
    assert max(seen.took_s) < 5


def test_readers_with_a_key_do_not_wait_for_a_standby_that_is_away(
    shop: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    # The use of each key is written down once a minute: here by the first call of all.
    shop.pair.primary.ask("UPDATE accounts_apikey SET last_used_at = NULL")
    shop.serve_all()
    assert shop.pair.is_synchronous()
    shop.pair.standby.machine.kill()
    with reading(shop, *READS, before_s=0) as seen:
        pass
    tell(
        capsys,
        f"synchronous standby killed: {payload(seen.statuses)}, the slowest answer {max(seen.took_s):.2f} s",
    )
    assert shop.pair.primary.ask("SELECT count(*) FROM accounts_apikey WHERE last_used_at IS NOT NULL") == 1
    assert set(seen.statuses) == {200}
    shop.pair.primary.ask("ALTER SYSTEM SET synchronous_standby_names = ''")
    shop.pair.primary.ask("SELECT pg_reload_conf()")
    shop.pair.follow()

"""Tasks in RabbitMQ on three machines, one of which dies."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from framework.public_ids import new_id
from tests.cluster.brokers import Brokers
from tests.cluster.figures import tell
from tests.cluster.topology import Cluster, begun
from tests.support.live_stack import eventually

pytestmark = pytest.mark.cluster

WITHIN_S = 90.0


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The servers of data, without a web server."""
    with begun(tmp_path_factory.mktemp("site")) as made:
        yield made


@pytest.fixture(scope="module")
def brokers(shop: Cluster) -> Brokers:
    """Three nodes, and a worker that knows them by one name."""
    made = Brokers(shop.site)
    worker = shop.site.machine("worker")
    shop.site.name_all(rabbitmq="rabbitmq")
    made.start()
    worker.start(
        *("celery", sys.executable, "-m", "celery", "-A", "config", "worker", "-B", "-c", "2"),
        *(
            "-s",
            str(shop.site.folder / "schedule"),
            "-Q",
            ",".join(settings.TASK_QUEUES),
            "--without-gossip",
            "--without-mingle",
        ),
        env={**shop.environment, "BROKER_URL": made.url, "REMAP_SIGTERM": "SIGQUIT"},
        cwd=Path(settings.BASE_DIR),
    )
    return made


def order(shop: Cluster, *, exports: int) -> None:
    """Order exports, as staff do; the periodic task enqueues them."""
    with psycopg.connect(shop.pair.primary.url) as database:
        for _ in range(exports):
            key = new_id()
            database.execute(
                "INSERT INTO catalogue_export (id, dataset, format, filter, fields, fingerprint, queue, status,"
                " manifest_sha256, error, generation, snapshots, created_at)"
                " VALUES (%s, 'restaurants', 'jsonl.gz', '{}', '{}', %s, 'standard', 'queued', '', '', 0, '{}',"
                " now())",
                [key, key.hex],
            )


def finished(shop: Cluster) -> int:
    """How many exports have succeeded."""
    return int(shop.pair.primary.ask("SELECT count(*) FROM catalogue_export WHERE status = 'succeeded'"))


def test_exports_finish_though_the_broker_that_leads_their_queue_is_killed(
    shop: Cluster, brokers: Brokers, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.monotonic()
    order(shop, exports=1)
    assert eventually(lambda: finished(shop) == 1, within_s=WITHIN_S)
    first_s = time.monotonic() - begun

    leader = brokers.leader("standard")
    order(shop, exports=5)
    killed = time.monotonic()
    leader.kill()
    assert eventually(lambda: finished(shop) == 6, within_s=WITHIN_S)
    tell(
        capsys,
        f"RabbitMQ on three machines, quorum queues: an export in {first_s:.1f} s; {leader.name}, which led its queue,"
        f" killed: five more in {time.monotonic() - killed:.1f} s",
    )

"""The Celery app: queues by purpose and priority, and the beat schedule."""

import gc
import os
from pathlib import Path
from typing import Any

from celery import Celery
from celery.schedules import crontab
from celery.signals import beat_init, celeryd_after_setup, worker_init
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from framework.data_files import read_toml

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Arrow's own pool keeps pages for its next writes, of which a part of an export has none: with 50,000 reviews a
# process had up to 99 MB of its own, and 72 with the system's in four fifths of the processor's time.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

app = Celery("tablewire")
# Without it other threads than the importing one send shared tasks to an unconfigured app.
app.set_default()
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# A caller waits for a statement, and a task does not: it may work on very many rows.
STATEMENT_TIMEOUT_S = 60


def set_statement_timeout(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET statement_timeout = '{STATEMENT_TIMEOUT_S}s'")


# For this worker, and the processes that it forks.
worker_init.connect(lambda **_: connection_created.connect(set_statement_timeout), weak=False)


@worker_init.connect
@beat_init.connect
def refuse_unsafe_settings(**_: Any) -> None:
    # Here, because the checks import models, which need the apps.
    from config import checks

    checks.exit_if_unsafe()


@celeryd_after_setup.connect
def freeze_loaded_objects(**_: Any) -> None:
    """Keep what is loaded shared by the processes that this worker forks: a collection would write to its pages."""
    gc.collect()
    gc.freeze()


def read_beat_schedule() -> dict[str, dict[str, Any]]:
    """Return the periodic tasks of beat_schedule.toml, as Celery needs them."""
    tables = read_toml(Path(__file__).with_name("beat_schedule.toml"))
    return {
        name: {
            "task": f"{package}.tasks.{entry.get('task', name).replace('-', '_')}",
            "schedule": float(entry["every_s"]) if "every_s" in entry else crontab.from_string(entry["cron"]),
            "kwargs": entry.get("kwargs", {}),
            "options": {option: entry[option] for option in ("expires", "queue") if option in entry},
        }
        for package, entries in tables.items()
        for name, entry in entries.items()
    }


# By its name: other processes do not need what it imports.
app.steps["worker"].add("config.beat_restart:BeatRestart")
app.conf.task_create_missing_queues = True
app.conf.beat_schedule = read_beat_schedule()

"""A Celery worker and the processes that it forks: what they share, and what is started again."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from django.conf import settings

from tests.support.live_server import working
from tests.support.live_stack import eventually

SMAPS = Path("/proc/self/smaps_rollup")
# Makes a worker's start as far as its first fork, and looks for garbage in what was forked.
FORKED = f"""
import gc, os
from celery.signals import celeryd_after_setup
from config.celery import app

app.loader.init_worker()
celeryd_after_setup.send(sender="worker", instance=None, conf=app.conf)
if os.fork() == 0:
    gc.collect()
    print(*(line.split()[1] for line in open({str(SMAPS)!r}) if line.startswith("Private_Dirty")))
else:
    os.wait()
"""


@pytest.mark.stack
@pytest.mark.skipif(not SMAPS.exists(), reason="this system does not say what memory processes share")
def test_the_processes_of_a_worker_share_what_it_has_loaded() -> None:
    run = subprocess.run([sys.executable, "-c", FORKED], cwd=settings.BASE_DIR, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    # Of some 110 MB; 67 were its own before.
    assert int(run.stdout) < 10_000


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_a_worker_replaces_each_of_its_processes_that_is_killed_its_beat_too(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    with working(log, "--beat", "--schedule", str(tmp_path / "schedule"), queue="webhooks") as child:
        assert eventually(lambda: " ready." in log.read_text())
        # Celery itself ends a worker whose processes end before it takes the first message.
        time.sleep(1)
        for number in range(2, 4):
            # One runs tasks, and one is the beat; they start one after the other.
            assert eventually(lambda: len(psutil.Process(child.pid).children()) == 2)
            for process in psutil.Process(child.pid).children():
                process.kill()
            assert eventually(lambda number=number: log.read_text().count("beat: Starting...") == number)  # type: ignore[misc]
        assert child.is_running()

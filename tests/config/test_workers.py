"""What a Celery worker and the processes that it forks have in common."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

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

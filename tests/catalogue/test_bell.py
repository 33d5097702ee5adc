"""The doorbell of the worker, with a broker that is away."""

import os
import subprocess
import sys

import pytest
from django.conf import settings

from catalogue.models import SearchRow
from tests.catalogue import make
from tests.served import database_url

pytestmark = pytest.mark.django_db(transaction=True)

# The slice of a task is made one restaurant, so that there is more to ring for.
A_SLICE = "from catalogue.tasks import spans; spans.SLICE = 1; spans.refresh_open_spans()"


def test_a_slice_of_the_open_spans_is_worked_out_although_nobody_hears_the_bell_for_the_next() -> None:
    for _ in range(2):
        make.restaurant(hours=make.week("18:00", "02:00"))
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v", "0", "-c", A_SLICE],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": database_url(), "BROKER_URL": "redis://127.0.0.1:1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "The broker is away, so the open spans are worked out by the next beat" in done.stderr
    assert SearchRow.objects.filter(spans_until=None).count() == 1

"""deploy/observing, held against the programs that read it: Prometheus' own checks, and HAProxy's own series."""

import re
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from benchmarks.proxy import run_haproxy
from config.dev_stack.servers import free_port
from tests.framework.observability.test_monitoring_files import expressions

FOLDER = Path(settings.BASE_DIR) / "deploy" / "observing"
PROMTOOL = shutil.which("promtool")
pytestmark = pytest.mark.outside


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the files with a token beside them."""
    made = Path(shutil.copytree(FOLDER, tmp_path / "observing"))
    (made / "metrics_token").write_text("a token")
    return made


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed: apt-get install prometheus")
@pytest.mark.parametrize("words", [("check", "config", "prometheus.yml"), ("test", "rules", "alerts_test.yml")])
def test_prometheus_takes_the_files_and_the_alerts_fire_when_they_should(folder: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run([str(PROMTOOL), *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed: apt-get install haproxy")
def test_every_series_of_the_proxy_that_is_asked_for_is_one_that_it_has(tmp_path: Path) -> None:
    asked = {name for one in expressions() for name in re.findall(r"\bhaproxy_\w+", one)}
    stats = f"127.0.0.1:{free_port()}"
    has = ""
    with run_haproxy(["127.0.0.1:1"], log=tmp_path / "haproxy.log", STATS_BIND=stats):
        for _ in range(50):
            with suppress(httpx.TransportError):
                has = httpx.get(f"http://{stats}/metrics").text
                break
            time.sleep(0.1)
    assert len(asked) >= 4
    assert asked - set(re.findall(r"^# TYPE (\w+)", has, re.MULTILINE)) == set()

"""docs/exports.md does what it says: its shell blocks are executed on a running product, one after the other."""

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
from ast import literal_eval
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings

from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import EXPORTS
from tests.support.live_stack import Up, eventually
from tests.support.live_stack import environment as on

PAGE = (Path(settings.BASE_DIR) / "docs" / "exports.md").read_text()


SH = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def shell(up: Up, block: str, folder: Path, **environment: str) -> str:
    """What a block prints, on this product's address and in a folder of its own."""
    here = block.replace("http://127.0.0.1:8000", up.record["base_url"])
    here = here.replace("manage.py", shlex.join([sys.executable, str(settings.BASE_DIR / "manage.py")]))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", here],
        cwd=folder,
        env=on(up.state_dir) | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.stack
def test_an_export_is_ordered_followed_fetched_and_read_as_the_page_says(up: Up, tmp_path: Path) -> None:
    order, follow, fetch, read, _ = SH
    token = export_builders.create_session(up)
    (wallet,) = (wallet for wallet in up.record["wallets"] if wallet["name"] == "enterprise")
    caller = httpx.Client(base_url=up.record["base_url"], headers={"Authorization": f"Bearer {token}"}, timeout=30)
    with caller:
        # Other tests order exports with this wallet too.
        assert eventually(lambda: not unfinished(caller))
        response = json.loads(shell(up, order, tmp_path, TOKEN=token))
        assert response["error"] == "payment_required" or response["error"]["code"] == "payment_required"
        theirs = {"private_key": wallet["private_key"], "base_url": up.record["base_url"], "token": token}
        exec(PYTHON[0], theirs)  # noqa: S102  # the page's own words
        ordered = str(theirs["export"])
        assert eventually(
            lambda: json.loads(shell(up, follow, tmp_path, TOKEN=token, ID=ordered))["status"] == "succeeded"
        )
        record = caller.get(f"{EXPORTS}/{ordered}").json()
    message = shell(up, fetch, tmp_path, TOKEN=token, ID=ordered).splitlines()
    assert message == [f"{file['name']}: OK" for file in record["files"]]
    assert (record["rows"] > 0, record["fields"]) == (True, ["reviews"])
    if shutil.which("jq"):
        assert len(shell(up, read, tmp_path).splitlines()) == 3


@pytest.mark.stack
def test_the_command_and_the_readers_of_tables_do_what_the_page_says(
    up: Up, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Copied and verified: 2 files in taken" in shell(up, SH[4], tmp_path)
    monkeypatch.chdir(tmp_path / "taken")
    for snippet in PYTHON[1:3]:
        exec(snippet, {})  # noqa: S102  # the page's own words
    best, table = capsys.readouterr().out.splitlines()
    rows = json.loads((tmp_path / "taken" / "manifest.json").read_text())["rows"]
    assert len(literal_eval(best)) == 3
    assert table.startswith(f"{rows} timestamp[")


def test_a_delta_is_applied_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(name: str, *rows: dict[str, str]) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode()))

    write("full/restaurants-00001.jsonl.gz", {"id": "1", "name": "a"}, {"id": "2", "name": "b"})
    write("full/restaurants-00002.jsonl.gz", {"id": "3", "name": "c"})
    write("delta/restaurants-00001.jsonl.gz", {"id": "2", "name": "B"}, {"id": "4", "name": "d"})
    write("delta/restaurants-removed-00002.jsonl.gz", {"id": "3"}, {"id": "9"})
    monkeypatch.chdir(tmp_path)
    theirs: dict[str, Any] = {}
    exec(PYTHON[3], theirs)  # noqa: S102  # the page's own words
    assert {key: row["name"] for key, row in theirs["have"].items()} == {"1": "a", "2": "B", "4": "d"}


def unfinished(caller: httpx.Client) -> list[str]:
    """The exports of a wallet that are under way."""
    return [row["id"] for row in caller.get(EXPORTS).json()["data"] if row["status"] in {"queued", "running"}]

"""docs/exports.md does what it says: its shell blocks are executed on a running product, one after the other."""

import json
import os
import re
import subprocess
from pathlib import Path

import httpx
from django.conf import settings

from tests.catalogue import exporting
from tests.catalogue.exporting import EXPORTS
from tests.running import Up, eventually

PAGE = (Path(settings.BASE_DIR) / "docs" / "exports.md").read_text()


def test_an_export_is_ordered_followed_fetched_and_checked_as_the_page_says(up: Up, tmp_path: Path) -> None:
    order, follow, fetch = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    token = exporting.token(up)
    caller = httpx.Client(base_url=up.said["base_url"], headers={"Authorization": f"Bearer {token}"}, timeout=30)

    def run(block: str, **environment: str) -> str:
        """What a block prints, on this product's address and in a folder of its own."""
        here = block.replace("http://127.0.0.1:8000", up.said["base_url"])
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", here],
            cwd=tmp_path,
            env=os.environ | {"TOKEN": token} | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    with caller:
        # Other tests order exports with this wallet too.
        assert eventually(lambda: not unfinished(caller))
        ordered = json.loads(run(order))["id"]
        assert eventually(lambda: json.loads(run(follow, ID=ordered))["status"] == "succeeded")
        record = caller.get(f"{EXPORTS}/{ordered}").json()
    said = run(fetch, ID=ordered).splitlines()
    assert said == [*(f"{file['name']}: OK" for file in record["files"]), str(record["rows"])]
    assert record["rows"] > 0


def unfinished(caller: httpx.Client) -> list[str]:
    """The exports of a wallet that are under way."""
    return [row["id"] for row in caller.get(EXPORTS).json()["data"] if row["status"] in {"queued", "running"}]

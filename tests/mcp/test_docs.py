"""The page on the MCP endpoint says what is so: its program and its request are run, its table holds what is sold."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from catalogue.mcp.server import SERVER
from payments.pricing.default_products import PRODUCTS
from tests.support.live_stack import Up
from tests.test_readme import run

PAGE = (Path(settings.BASE_DIR) / "docs/mcp.md").read_text()


def blocks(language: str) -> list[str]:
    """The code of the page in this language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.stack
def test_the_program_on_the_page_searches_and_pays(up: Up) -> None:
    _, program = blocks("python")
    here = program.replace(".state/up.json", str(up.state_dir / "up.json"))
    done = subprocess.run([sys.executable, "-c", here], capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    price, place, transaction = done.stdout.splitlines()
    assert price == "2000"
    assert re.fullmatch(r".+, \d+ minutes on foot", place)
    assert re.fullmatch(r"0x[0-9a-f]{64}", transaction)


@pytest.mark.stack
def test_the_request_on_the_page_is_answered(up: Up) -> None:
    (request,) = blocks("sh")
    answer = json.loads(run(request, up))
    assert [place["name"] for place in answer["result"]["structuredContent"]["data"]] == ["Nyhavn"]


def test_the_page_names_every_tool_and_price() -> None:
    table = PAGE.partition("\n## Tools\n")[2].partition("\n## ")[0]
    named = re.findall(
        r"`(\w+)`", " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    )
    assert sorted(named) == sorted(SERVER.tools_by_name)
    sold = re.findall(r"`(\w+)`: ([0-9.]+), from (\w+)", table)
    assert sorted(sold) == sorted(
        (slug, product["prices"][0], product["from_tier"].capitalize()) for slug, product in PRODUCTS.items()
    )


def test_every_setup_on_the_page_is_well_formed() -> None:
    for block in blocks("json"):
        json.loads(block)


def test_every_link_on_the_page_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", PAGE)
    assert len(targets) > 5
    assert [target for target in targets if not (Path(settings.BASE_DIR) / "docs" / target).exists()] == []

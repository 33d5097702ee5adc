"""The README does what it says: each shell block is executed on a running product."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from tests.support.live_stack import Up, environment

README = (Path(settings.BASE_DIR) / "README.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
# Executed by the fixture `up` and by this very run.
OWN = {"pip install uv && uv run manage.py up\n", "uv run --group dev pytest\n"}


def run(block: str, up: Up) -> str:
    """Run a block as it stands, but on this product's port and state directory."""
    here = block.replace("http://127.0.0.1:8000", up.record["base_url"]).replace(".state/", f"{up.state_dir}/")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", here],
        env=environment(up.state_dir),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shape(value: object) -> object:
    """The keys and types of a JSON value; of a list the shape of its first element."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    return [shape(inner) for inner in value[:1]] if isinstance(value, list) else type(value).__name__


def test_it_has_the_two_commands() -> None:
    assert len(BLOCKS) >= 4
    assert set(BLOCKS) >= OWN


@pytest.mark.stack
def test_each_request_in_it_is_answered_as_shown(up: Up) -> None:
    shown = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", README, re.DOTALL)]
    answers = [json.loads(run(block, up)) for block in BLOCKS if "curl" in block and "manage.py pay" not in block]
    assert len(answers) == len(shown) == 3
    for answer, example in zip(answers, shown, strict=True):
        assert set(answer) == set(example)
    order = answers.pop()
    assert shape(order) == shape(shown.pop())
    # Which restaurants are found depends on the hour and on how many there are; what is said of the question does not.
    for found, example in zip(answers, shown, strict=True):
        assert shape(found["pagination"] | {"next_cursor": ""}) == shape(example["pagination"] | {"next_cursor": ""})
        assert found["query"]["resolved"] == example["query"]["resolved"]


@pytest.mark.stack
def test_the_paying_line_in_it_pays_as_shown(up: Up) -> None:
    (block,) = (block for block in BLOCKS if "manage.py pay" in block)
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    steps, _, body = run(block, up).partition("\n{\n")
    shown_steps, _, shown_body = shown.partition("\n{\n")
    # Slug, wallet, price's receiver and transaction are of the run.
    without = re.compile(r"0x[0-9a-fA-F]+|/v1/\S+|http://[0-9.:]+")
    assert without.sub("", steps) == without.sub("", shown_steps)
    assert shape(json.loads("{" + body)) == shape(json.loads("{" + shown_body))


def test_every_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 10
    assert [target for target in targets if not (Path(settings.BASE_DIR) / target).exists()] == []

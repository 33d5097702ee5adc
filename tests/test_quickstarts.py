"""The quickstarts do what they say: each block runs on a running product, and prints what the page shows."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.support.live_stack import Up
from tests.test_readme import OWN, run

READERS = ["restaurant", "integrator", "data-buyer", "agent-builder", "operator"]
END = "::end of block::"
# Ids, passwords and addresses are of the run; the number of checks grows.
VARIABLE = re.compile(r"(?<=demo@example\.com )\S+|ven_[0-9a-z]{26}|http://127\.0\.0\.1:\d+|\d+(?= checks)")


def blocks(reader: str) -> tuple[list[str], list[str]]:
    """The commands of a page after its first, which starts the product, and the output that it shows for each."""
    page = (Path(settings.BASE_DIR) / "docs" / f"quickstart-{reader}.md").read_text()
    first, *commands = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    assert first in OWN
    return commands, re.findall(r"```text\n(.*?)```", page, re.DOTALL)


@pytest.mark.stack
@pytest.mark.parametrize("reader", READERS)
def test_each_command_of_a_quickstart_prints_what_the_page_shows(reader: str, up: Up) -> None:
    commands, shown = blocks(reader)
    # In one shell, as a reader types them.
    printed = run(f"\necho '{END}'\n".join(commands), up).split(f"{END}\n")
    assert [VARIABLE.sub("", output) for output in printed] == [VARIABLE.sub("", output) for output in shown]

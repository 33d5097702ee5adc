"""The examples of the data API's document are what the API answers today; `WRITE_EXAMPLES=1` writes them again."""

import json
import os
from pathlib import Path

import pytest
from pytest_django import Settings

from config.management.commands.openapi import DATA_EXAMPLES
from tests.support import data_examples


# Exports are written through connections of their own.
@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_the_api_answers_as_the_committed_examples_say(settings: Settings, tmp_path: Path) -> None:
    recorded = data_examples.record(settings, tmp_path)
    if os.environ.get("WRITE_EXAMPLES"):
        DATA_EXAMPLES.write_text(data_examples.render(recorded))
    assert recorded == json.loads(DATA_EXAMPLES.read_text()), "docs/architecture.md says how they are written again"

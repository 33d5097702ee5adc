"""What reads reviews is loaded by who writes insights, not by who serves them."""

import subprocess
import sys

import pytest

STARTED = """
import sys
from django.urls import get_resolver
import config.wsgi
get_resolver().url_patterns
print(sorted({name.partition(".")[0] for name in sys.modules} & {"rapidfuzz", "vaderSentiment", "py3langid"}))
"""


@pytest.mark.stack
def test_a_web_process_starts_without_the_dictionaries_of_insights() -> None:
    rows = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True, check=True, timeout=60)
    assert rows.stdout.splitlines()[-1] == "[]"

"""How much of a model's context the list of tools takes: its names, descriptions and arguments."""

import importlib
import json
import warnings
from functools import cache
from typing import Any

import pytest
from django.test import Client

from catalogue.mcp.server import SERVER
from tests.mcp.client import rpc
from tests.mcp.test_tools import forget_prices

pytestmark = pytest.mark.exhaustive
MAX_TOKENS = 3_500
MAX_INSTRUCTION_TOKENS = 160


@cache
def encoding() -> Any:
    """The encoding of OpenAI's models since GPT-4o. The package has its tables in it; tiktoken downloads them."""
    with warnings.catch_warnings():
        # It reads them by a deprecated function of importlib, which takes a second.
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module("bpe_openai").get_encoding("o200k_base")


def count_tokens(value: Any) -> int:
    return len(encoding().encode(json.dumps(value, separators=(",", ":"), ensure_ascii=False)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("prices")
def test_a_model_reads_all_tools_with_their_prices_in_3500_tokens(client: Client) -> None:
    forget_prices()
    listed = rpc(client, "tools/list")["result"]["tools"]
    seen = [{word: tool[word] for word in ("name", "description", "inputSchema")} for tool in listed]
    by_tool = {tool["name"]: count_tokens(tool) for tool in seen}
    assert "USDC" in json.dumps(seen)
    assert count_tokens(seen) <= MAX_TOKENS, by_tool
    assert max(by_tool.values()) < 560


def test_the_instructions_are_short() -> None:
    assert count_tokens(SERVER.instructions) <= MAX_INSTRUCTION_TOKENS

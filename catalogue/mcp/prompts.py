"""What a conversation can be begun with."""

from collections.abc import Sequence

from config.mcp.resources import Prompt

PROMPTS: Sequence[Prompt] = ()

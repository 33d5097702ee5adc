"""What agents read beside the tools: prices, markets, their own account, and restaurants."""

from collections.abc import Sequence

from config.mcp.resources import Resource

RESOURCES: Sequence[Resource] = ()

"""Models with the protocol of Anthropic's Messages API."""

from typing import Any, ClassVar

import orjson

from catalogue.insights.providers import prompt
from catalogue.insights.providers.llm import (
    EMPTY,
    REFUSED,
    TOO_LONG,
    Completion,
    LLMProvider,
    Outcome,
    ProviderError,
    read_usage,
)
from catalogue.insights.providers.prompt import Prompt

JSON_SCHEMA, TOOL = "json_schema", "tool"
TOOL_NAME = "write_insight"
# Input tokens have three prices; their sum is what was sent.
INPUT_FIELDS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Anthropic(LLMProvider):
    """Requests structured output, or for models without it the use of a tool with the same schema."""

    name: ClassVar[str] = "anthropic"
    sdk_client: ClassVar[str] = "Anthropic"
    error_code_field: ClassVar[str] = "type"
    default_url: ClassVar[str] = "https://api.anthropic.com"
    formats: ClassVar[tuple[str, ...]] = (JSON_SCHEMA, TOOL)

    def _endpoint(self, client: Any) -> Any:
        return client.messages.with_raw_response

    def build_request(self, built: Prompt, *, response_format: str) -> dict[str, Any]:
        output: dict[str, Any] = {"output_config": {"format": {"type": JSON_SCHEMA, "schema": prompt.SCHEMA}}}
        if response_format == TOOL:
            tool = {"name": TOOL_NAME, "description": "Hand over the insight.", "input_schema": prompt.SCHEMA}
            output = {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL_NAME}}
        return {
            "model": self.model,
            "system": prompt.INSTRUCTIONS,
            "messages": [{"role": "user", "content": built.document}],
            "max_tokens": prompt.MAX_OUTPUT_TOKENS,
            **output,
        }

    def _parse_response(self, response: dict[str, Any]) -> Completion:
        usage = read_usage(response.get("usage"), INPUT_FIELDS, "output_tokens")
        stop_reason, blocks = response.get("stop_reason"), response["content"]
        if stop_reason == "refusal":
            raise ProviderError(REFUSED, Outcome.REFUSED, usage=usage)
        if stop_reason in {"max_tokens", "model_context_window_exceeded"}:
            raise ProviderError(TOO_LONG, usage=usage)
        # Other blocks hold reasoning.
        inputs = [block["input"] for block in blocks if block["type"] == "tool_use" and block["name"] == TOOL_NAME]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        if inputs:
            text = orjson.dumps(inputs[0]).decode()
        if not text.strip():
            raise ProviderError(EMPTY, usage=usage)
        return Completion(text, usage)

"""Models with the protocol of OpenAI's chat completions: OpenAI's, and those of compatible servers."""

from typing import Any, ClassVar

from django.conf import settings

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

JSON_SCHEMA, JSON_OBJECT = "json_schema", "json_object"


class OpenAI(LLMProvider):
    """Requests output by a JSON schema, or JSON from servers that do not support schemas."""

    name: ClassVar[str] = "openai"
    sdk_client: ClassVar[str] = "OpenAI"
    error_code_field: ClassVar[str] = "code"
    default_url: ClassVar[str] = "https://api.openai.com/v1"
    formats: ClassVar[tuple[str, ...]] = (JSON_SCHEMA, JSON_OBJECT)

    def _endpoint(self, client: Any) -> Any:
        return client.chat.completions.with_raw_response

    def build_request(self, built: Prompt, *, response_format: str) -> dict[str, Any]:
        has_schema = response_format == JSON_SCHEMA
        schema = {"name": "insight", "strict": True, "schema": prompt.SCHEMA}
        # OpenAI accepts only the new name; other servers know the old one.
        limit = "max_tokens" if settings.INSIGHT_BASE_URL else "max_completion_tokens"
        return {
            "model": self.model,
            "messages": [
                {"role": "system", "content": prompt.INSTRUCTIONS if has_schema else prompt.INSTRUCTIONS_WITH_SCHEMA},
                {"role": "user", "content": built.document},
            ],
            "response_format": {"type": response_format, **({"json_schema": schema} if has_schema else {})},
            limit: prompt.MAX_OUTPUT_TOKENS,
        }

    def _parse_response(self, response: dict[str, Any]) -> Completion:
        usage = read_usage(response.get("usage"), ["prompt_tokens"], "completion_tokens")
        choice = response["choices"][0]
        message, finish_reason = choice["message"], choice.get("finish_reason")
        if message.get("refusal") or finish_reason == "content_filter":
            raise ProviderError(REFUSED, Outcome.REFUSED, usage=usage)
        if finish_reason == "length":
            raise ProviderError(TOO_LONG, usage=usage)
        text = message.get("content")
        if not isinstance(text, str) or not text.strip():
            raise ProviderError(EMPTY, usage=usage)
        return Completion(text, usage)

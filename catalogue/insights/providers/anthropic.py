"""Models that speak the protocol of Anthropic's messages."""

import time
from typing import Any, ClassVar

import orjson

from catalogue.insights.providers import prompt
from catalogue.insights.providers.llm import Heard, Model, Outcome, broken, failed, tokens
from catalogue.insights.providers.prompt import Question

STRUCTURED, TOOL = "json_schema", "tool"
NAME = "write_insight"
# What counts as read, in three kinds by price; together they are what was sent.
READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Anthropic(Model):
    """Asks for structured output, and models that have none for the use of a tool, which has the same schema."""

    name: ClassVar[str] = "anthropic"
    own_url: ClassVar[str] = "https://api.anthropic.com"
    forms: ClassVar[tuple[str, ...]] = (STRUCTURED, TOOL)

    def _request(self, question: Question, *, form: str, until: float) -> bytes:
        # Large, and only workers and commands ask; where the extra is missing, that is said in words of our own.
        import anthropic
        import httpx2

        from catalogue.insights.providers import bounded_http

        try:
            with (
                bounded_http.client(until=until) as http,
                anthropic.Anthropic(
                    api_key=self._key,
                    base_url=self._url,
                    http_client=http,
                    max_retries=0,
                    timeout=until - time.monotonic(),
                ) as client,
            ):
                answer = client.messages.with_raw_response.create(**self.body(question, form=form))
                return answer.http_response.content
        except anthropic.APIStatusError as error:
            raise failed(status=error.status_code, headers=error.response.headers, code=error.type) from None
        except (anthropic.AnthropicError, httpx2.HTTPError, TimeoutError, ValueError) as error:
            raise broken(error) from None

    def body(self, question: Question, *, form: str) -> dict[str, Any]:
        """What is sent in this form."""
        shape: dict[str, Any] = {"output_config": {"format": {"type": STRUCTURED, "schema": prompt.SCHEMA}}}
        if form == TOOL:
            tool = {"name": NAME, "description": "Hand over the insight.", "input_schema": prompt.SCHEMA}
            shape = {"tools": [tool], "tool_choice": {"type": "tool", "name": NAME}}
        return {
            "model": self._model,
            "system": prompt.INSTRUCTIONS,
            "messages": [{"role": "user", "content": question.document}],
            "max_tokens": prompt.MOST_WRITTEN,
            **shape,
        }

    def _hear(self, answer: dict[str, Any]) -> Heard:
        used = tokens(
            answer.get("usage"),
            read=lambda told: (_sum([told.get(kind) or 0 for kind in READ]), told.get("output_tokens")),
        )
        ended, blocks = answer.get("stop_reason"), answer["content"]
        if ended == "refusal":
            return Heard("", Outcome.REFUSED, "The model declined to write about these reviews.", used)
        if ended in {"max_tokens", "model_context_window_exceeded"}:
            return Heard("", Outcome.FAILED, f"The answer has more than {prompt.MOST_WRITTEN} tokens.", used)
        # Beside them stand thoughts.
        given = [block["input"] for block in blocks if block["type"] == "tool_use" and block["name"] == NAME]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        if given:
            text = orjson.dumps(given[0]).decode()
        if not text.strip():
            return Heard("", Outcome.FAILED, "The answer is empty.", used)
        return Heard(text, used=used)


def _sum(counts: list[Any]) -> int | None:
    """Their sum; None where one is no number."""
    return sum(counts) if all(type(count) is int for count in counts) else None

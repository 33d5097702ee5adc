"""Models that speak the protocol of OpenAI's chat completions: theirs, and any server that does so too."""

import time
from typing import Any, ClassVar

from django.conf import settings

from catalogue.insights.providers import prompt
from catalogue.insights.providers.llm import Heard, Model, Outcome, broken, failed, tokens
from catalogue.insights.providers.prompt import Question

STRICT, LOOSE = "json_schema", "json_object"


class OpenAI(Model):
    """Asks for an answer by a JSON schema, and of servers that know no schemas for one in JSON."""

    name: ClassVar[str] = "openai"
    own_url: ClassVar[str] = "https://api.openai.com/v1"
    forms: ClassVar[tuple[str, ...]] = (STRICT, LOOSE)

    def _request(self, question: Question, *, form: str, until: float) -> bytes:
        # Large, and only workers and commands ask; where the extra is missing, that is said in words of our own.
        import httpx2
        import openai

        from catalogue.insights.providers import bounded_http

        try:
            with (
                bounded_http.client(until=until) as http,
                openai.OpenAI(
                    api_key=self._key,
                    base_url=self._url,
                    http_client=http,
                    max_retries=0,
                    timeout=until - time.monotonic(),
                ) as client,
            ):
                answer = client.chat.completions.with_raw_response.create(**self.body(question, form=form))
                return answer.http_response.content
        except openai.APIStatusError as error:
            raise failed(status=error.status_code, headers=error.response.headers, code=error.code) from None
        except (openai.OpenAIError, httpx2.HTTPError, TimeoutError, ValueError) as error:
            raise broken(error) from None

    def body(self, question: Question, *, form: str) -> dict[str, Any]:
        """What is sent in this form."""
        loose = form == LOOSE
        schema = {"name": "insight", "strict": True, "schema": prompt.SCHEMA}
        # Theirs takes the new name alone; other servers know the old one.
        limit = "max_tokens" if settings.INSIGHT_BASE_URL else "max_completion_tokens"
        return {
            "model": self._model,
            "messages": [
                {"role": "system", "content": prompt.SCHEMA_IN_WORDS if loose else prompt.INSTRUCTIONS},
                {"role": "user", "content": question.document},
            ],
            "response_format": {"type": LOOSE} if loose else {"type": STRICT, "json_schema": schema},
            limit: prompt.MOST_WRITTEN,
        }

    def _hear(self, answer: dict[str, Any]) -> Heard:
        used = tokens(
            answer.get("usage"), read=lambda told: (told.get("prompt_tokens"), told.get("completion_tokens"))
        )
        choice = answer["choices"][0]
        message, ended = choice["message"], choice.get("finish_reason")
        if message.get("refusal") or ended == "content_filter":
            return Heard("", Outcome.REFUSED, "The model declined to write about these reviews.", used)
        if ended == "length":
            return Heard("", Outcome.FAILED, f"The answer has more than {prompt.MOST_WRITTEN} tokens.", used)
        text = message.get("content")
        if not isinstance(text, str) or not text.strip():
            return Heard("", Outcome.FAILED, "The answer is empty.", used)
        return Heard(text, used=used)

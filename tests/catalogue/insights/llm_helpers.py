"""Asking models of the server of insight_server: a provider that is set to it, and what it is to say."""

import json
from typing import Any

from catalogue.insights.providers.anthropic import Anthropic
from catalogue.insights.providers.base import Reply, TokenUsage
from catalogue.insights.providers.llm import LLMProvider, Outcome
from catalogue.insights.providers.openai import OpenAI
from tests.catalogue.insights.model_server import KEY, MODEL, InsightServer, Protocol, Response
from tests.catalogue.insights.test_output_validation import DINNER, HONEST, context

PLACE = context(DINNER)
TIMEOUT_S = 10
PROVIDERS: dict[str, type[LLMProvider]] = {"openai": OpenAI, "anthropic": Anthropic}


def configured(protocol: Protocol, server: InsightServer, settings: Any) -> LLMProvider:
    """The provider of a protocol, set to this server."""
    settings.INSIGHT_MODEL = MODEL
    settings.INSIGHT_API_KEY = KEY
    settings.INSIGHT_BASE_URL = f"{server.url}{protocol.base}"
    settings.INSIGHT_TIMEOUT_S = TIMEOUT_S
    return PROVIDERS[protocol.name]()


def answer(*more: dict[str, Any], dishes: Any = ()) -> str:
    """What an honest model writes, and more."""
    honest = [{"text": part.text, "citations": list(part.citations)} for part in HONEST]
    return json.dumps({"sentences": [*honest, *more], "dishes": list(dishes)})


def ask(model: LLMProvider, server: InsightServer, *responses: Response) -> Reply:
    """What comes of these responses, the last of which comes again and again."""
    server.responses.clear()
    server.responses.extend(responses)
    return model.request_draft(PLACE)


def failed(reason: str, used: TokenUsage | None = None) -> Reply:
    """No answer, for this reason."""
    return Reply(outcome=Outcome.FAILED, reason=reason, usage=used)


def error(status: int, code: str, **headers: str) -> Response:
    """An error that holds the key, as some do."""
    messages = {"type": "error", "error": {"message": f"Wrong key: {KEY}", "type": code, "code": code}}
    return Response(status=status, body=json.dumps(messages).encode(), headers=headers)

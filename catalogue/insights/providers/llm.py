"""The base class of language model providers: request, retry, parse, validate."""

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import orjson
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from catalogue.insights.guardrails.output_validation import OutputRejected, validate_output
from catalogue.insights.providers import prompt
from catalogue.insights.providers.base import Context, Reply, TokenUsage
from catalogue.insights.providers.prompt import InvalidOutput, Prompt
from catalogue.insights.providers.registry import find_config_errors
from catalogue.models import InsightCall
from framework.resilience.deadline import Deadline

Outcome = InsightCall.Outcome

# Increase it when the validation changes; changes of instructions and schema change the version by themselves.
VALIDATION_VERSION = "1"
# The provider refused before it did any work: retry once if the requested delay is short enough.
RETRYABLE_STATUSES = frozenset({429, 503, 529})
MAX_RETRY_DELAY_S = 5.0
RETRY_DELAY_S = 1.0
# Statuses that servers return for a response format that they do not support.
UNSUPPORTED_FORMAT_STATUSES = frozenset({400, 422})
# One for each response format, and one retry.
MAX_ATTEMPTS = 3
NO_USAGE = TokenUsage(0, 0)
REFUSED = "The model declined to write about these reviews."
TOO_LONG = f"The answer has more than {prompt.MAX_OUTPUT_TOKENS} tokens."
EMPTY = "The answer is empty."
# Larger counts are errors of the server, and exceed the column.
MAX_TOKENS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Completion:
    """The text of the model, which is not empty."""

    text: str
    usage: TokenUsage | None


@dataclass(eq=False)
class ProviderError(Exception):
    """The provider returned no completion. `usage` and `retry_after_s` are None if they are unknown."""

    reason: str
    outcome: InsightCall.Outcome = Outcome.FAILED
    status: int | None = None
    retry_after_s: float | None = None
    usage: TokenUsage | None = None


class LLMProvider(ABC):
    """A RemoteProvider that is configured by the settings INSIGHT_*.

    `name` is also the module of the SDK and `sdk_client` its client class. `formats` are the response formats: if the
    server does not support one, the next is used.
    """

    name: ClassVar[str]
    sdk_client: ClassVar[str]
    error_code_field: ClassVar[str]
    default_url: ClassVar[str]
    formats: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        """Raises ImproperlyConfigured, which lists what is wrong with the settings."""
        if errors := find_config_errors(self.name):
            raise ImproperlyConfigured(" ".join(errors))
        self.model: str = settings.INSIGHT_MODEL
        self._url = settings.INSIGHT_BASE_URL or self.default_url
        # Without a key the SDKs read other environment variables; self-hosted servers need none.
        self._key = settings.INSIGHT_API_KEY or "none"
        self._timeout_s = float(settings.INSIGHT_TIMEOUT_S)
        self._format = 0

    @property
    def version(self) -> str:
        """Changes with the instructions, the schema and the validation."""
        digest = hashlib.sha256(prompt.INSTRUCTIONS_WITH_SCHEMA.encode()).hexdigest()
        return f"{VALIDATION_VERSION}.{digest[:10]}"

    def max_usage(self, context: Context) -> TokenUsage:
        """The upper bound for one completion. Requests that are refused (format, rate limit) cost nothing."""
        return prompt.build_prompt(context).max_usage

    def request_draft(self, context: Context) -> Reply:
        """Call the model and validate its output, within INSIGHT_TIMEOUT_S. Errors become a Reply without a draft."""
        built = prompt.build_prompt(context)
        if not built.reviews:
            return Reply(outcome=Outcome.REJECTED, reason="No review can be given to a model.", usage=NO_USAGE)
        # The first import takes one or two seconds, which do not count against the deadline.
        import_module(self.name)
        try:
            completion = self._complete(built, deadline=Deadline.after(self._timeout_s))
        except ProviderError as error:
            return Reply(outcome=error.outcome, reason=error.reason, usage=error.usage)
        try:
            output = prompt.parse_output(completion.text)
            draft = validate_output(output, prompt=built, context=context, model=self.model)
        except InvalidOutput as error:
            return Reply(outcome=Outcome.FAILED, reason=str(error), usage=completion.usage)
        except OutputRejected as error:
            return Reply(outcome=Outcome.REJECTED, reason=str(error), usage=completion.usage)
        return Reply(outcome=Outcome.WRITTEN, draft=draft, usage=completion.usage)

    @abstractmethod
    def _endpoint(self, client: Any) -> Any:
        """The resource of the SDK client that creates completions, with raw responses."""

    @abstractmethod
    def build_request(self, built: Prompt, *, response_format: str) -> dict[str, Any]:
        """The arguments of the SDK call for this response format."""

    @abstractmethod
    def _parse_response(self, response: dict[str, Any]) -> Completion:
        """Parse a response. Raises ProviderError, and LookupError, TypeError or AttributeError if it is malformed."""

    def _complete(self, built: Prompt, *, deadline: Deadline) -> Completion:
        """Return the completion after at most MAX_ATTEMPTS requests. A supported format is used first next time."""
        index, has_waited = self._format, False
        for _ in range(MAX_ATTEMPTS):
            try:
                body = self._send(built, response_format=self.formats[index], deadline=deadline)
            except ProviderError as error:
                if error.status in UNSUPPORTED_FORMAT_STATUSES and index + 1 < len(self.formats):
                    index += 1
                    continue
                delay_s = RETRY_DELAY_S if error.retry_after_s is None else error.retry_after_s
                is_retryable = error.status in RETRYABLE_STATUSES and delay_s <= MAX_RETRY_DELAY_S
                if has_waited or not is_retryable or deadline.remaining_s <= delay_s:
                    raise
                time.sleep(delay_s)
                has_waited = True
                continue
            self._format = index
            try:
                return self._parse_response(orjson.loads(body))
            except orjson.JSONDecodeError:
                raise ProviderError("The provider returned something else than JSON.") from None
            except (LookupError, TypeError, AttributeError):
                raise ProviderError("The response of the provider does not follow its protocol.") from None
        raise ProviderError("The provider supports no response format.", usage=NO_USAGE)

    def _send(self, built: Prompt, *, response_format: str, deadline: Deadline) -> bytes:
        """Send one request and return the body of the response. Raises ProviderError."""
        # The SDKs are large and optional; web processes never load them.
        import httpx2

        from catalogue.insights.providers import bounded_http

        sdk = import_module(self.name)
        try:
            with (
                bounded_http.client(deadline) as http,
                getattr(sdk, self.sdk_client)(
                    api_key=self._key,
                    base_url=self._url,
                    http_client=http,
                    max_retries=0,
                    timeout=deadline.remaining_s,
                ) as client,
            ):
                request = self.build_request(built, response_format=response_format)
                body: bytes = self._endpoint(client).create(**request).http_response.content
                return body
        except sdk.APIStatusError as error:
            code = getattr(error, self.error_code_field)
            raise status_error(error.status_code, error.response.headers, code) from None
        except (getattr(sdk, f"{self.sdk_client}Error"), httpx2.HTTPError, TimeoutError, ValueError) as error:
            raise transport_error(error) from None


def read_usage(usage: object, inputs: Sequence[str], output: str) -> TokenUsage | None:
    """The usage of a response, by the names of its counts; None if it is missing or implausible."""
    if not isinstance(usage, dict):
        return None
    counts: list[Any] = [usage.get(inputs[0]), *(usage.get(name) or 0 for name in inputs[1:]), usage.get(output)]
    if not all(type(count) is int for count in counts):
        return None
    tokens = TokenUsage(sum(counts[:-1]), counts[-1])
    return tokens if 0 <= tokens.input <= MAX_TOKENS and 0 <= tokens.output <= MAX_TOKENS else None


def status_error(status: int, headers: Any, code: object) -> ProviderError:
    """The error of a status other than 200. Of the body only the code is shown, because texts may quote the key."""
    if status == 429:
        reason = "The provider limits our requests"
    elif status in {401, 403}:
        reason = "The provider refuses INSIGHT_API_KEY"
    else:
        reason = "The provider returned an error"
    is_shown = isinstance(code, str) and code.isidentifier() and len(code) <= 60 and code != settings.INSIGHT_API_KEY
    retry_after = headers.get("Retry-After")
    try:
        retry_after_s = None if retry_after is None else max(0.0, float(retry_after))
    except ValueError:
        # A date: treated as too long to wait.
        retry_after_s = float("inf")
    return ProviderError(
        f"{reason} ({status}{f' {code}' if is_shown else ''}).",
        status=status,
        retry_after_s=retry_after_s,
        # A refused request costs nothing; a server error may come after the work.
        usage=NO_USAGE if 300 <= status < 500 else None,
    )


def transport_error(error: BaseException) -> ProviderError:
    """The error of a response that did not arrive completely. Looks at the causes, because the SDKs wrap them."""
    names: set[str] = set()
    cause: BaseException | None = error
    while cause is not None and len(names) < 20:
        names.add(type(cause).__name__)
        cause = cause.__cause__
    if "ConnectError" in names:
        return ProviderError("The provider cannot be reached.", usage=NO_USAGE)
    if names & {"ReadTimeout", "ConnectTimeout", "WriteTimeout", "TimeoutError"}:
        return ProviderError("The provider did not answer in time.")
    return ProviderError("The response is incomplete, too large or compressed.")

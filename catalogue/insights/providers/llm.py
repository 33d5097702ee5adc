"""A model behind a network, whatever its protocol: asked with patience, its answer read, held against the reviews."""

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import orjson
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from catalogue.insights.guardrails.output_validation import verify
from catalogue.insights.providers import prompt
from catalogue.insights.providers.base import Context, Reply, Tokens
from catalogue.insights.providers.checks import faults
from catalogue.insights.providers.prompt import Question, Unreadable
from catalogue.models import InsightCall

Outcome = InsightCall.Outcome

# Raised by hand where the verifier judges otherwise; the instructions and the schema tell of themselves.
EDITION = "1"
# Refused before any work was done: asked once more, if no longer pause is wanted than this and there is time for it.
BUSY = frozenset({429, 503, 529})
LONGEST_PAUSE_S = 5.0
PAUSE_S = 1.0
# What servers say of a form that they do not know.
UNKNOWN_FORM = frozenset({400, 422})
# Once in each form of a request, and once more.
MOST_TRIES = 3
NOTHING = Tokens(0, 0)
# More than that is no number of tokens, and no column holds it.
MOST_TOKENS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Heard:
    """What the other side said: the text of the model, or why there is none."""

    text: str
    outcome: InsightCall.Outcome = Outcome.WRITTEN
    reason: str = ""
    used: Tokens | None = None


@dataclass(eq=False)
class Failure(Exception):
    """No answer: why, with which status, after which pause one may ask again, and what it used (None: who knows)."""

    reason: str
    status: int | None = None
    pause_s: float | None = None
    used: Tokens | None = None


class Model(ABC):
    """A RemoteProvider by the settings INSIGHT_*. `forms` are those of a request: where one is refused, the next."""

    name: ClassVar[str]
    own_url: ClassVar[str]
    forms: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        """Raises ImproperlyConfigured, which names what is missing."""
        if wrong := faults(self.name):
            raise ImproperlyConfigured(" ".join(wrong))
        self._model = settings.INSIGHT_MODEL
        self._url = settings.INSIGHT_BASE_URL or self.own_url
        # Their libraries look for keys elsewhere when there is none; servers of one's own need none.
        self._key = settings.INSIGHT_API_KEY or "none"
        self._timeout_s = float(settings.INSIGHT_TIMEOUT_S)
        self._form = 0

    @property
    def version(self) -> str:
        """Another one for other instructions, another schema or another judge."""
        asked = hashlib.sha256(prompt.SCHEMA_IN_WORDS.encode()).hexdigest()
        return f"{EDITION}.{asked[:10]}"

    @property
    def model(self) -> str:
        """The one that INSIGHT_MODEL names."""
        return str(self._model)

    def most(self, context: Context) -> Tokens:
        """The most tokens that one answer can use: each byte of the request as one, which is about four times as many.

        Requests that are refused for their form or for being too many cost nothing.
        """
        return prompt.question(context).most

    def ask(self, context: Context) -> Reply:
        """Ask, for INSIGHT_TIMEOUT_S at most, and verify. Whatever the other side does, there is a reply."""
        question = prompt.question(context)
        if not question.reviews:
            return Reply(outcome=Outcome.REJECTED, reason="No review can be given to a model.", used=NOTHING)
        # The first time that takes a second or two, which are not the other side's.
        import_module(self.name)
        try:
            heard = self._tried(question, until=time.monotonic() + self._timeout_s)
        except Failure as failure:
            return Reply(outcome=Outcome.FAILED, reason=failure.reason, used=failure.used)
        if heard.outcome != Outcome.WRITTEN:
            return Reply(outcome=heard.outcome, reason=heard.reason, used=heard.used)
        try:
            answer = prompt.read(heard.text)
        except Unreadable as error:
            return Reply(outcome=Outcome.FAILED, reason=str(error), used=heard.used)
        verdict = verify(answer, question=question, context=context, model=self.model)
        outcome = Outcome.WRITTEN if verdict.draft else Outcome.REJECTED
        return Reply(outcome=outcome, draft=verdict.draft, reason=verdict.reason, used=heard.used)

    @abstractmethod
    def _request(self, question: Question, *, form: str, until: float) -> bytes:
        """The body of the answer. Raises Failure."""

    @abstractmethod
    def _hear(self, answer: dict[str, Any]) -> Heard:
        """What an answer says; raises KeyError, IndexError, TypeError or AttributeError where it has another shape."""

    def _tried(self, question: Question, *, until: float) -> Heard:
        """The first answer of a few tries. The form that was taken once is the first one from then on."""
        form, paused = self._form, False
        for _ in range(MOST_TRIES):
            try:
                body = self._request(question, form=self.forms[form], until=until)
            except Failure as failure:
                if failure.status in UNKNOWN_FORM and form + 1 < len(self.forms):
                    form += 1
                    continue
                if paused or not _pause(failure, until=until):
                    raise
                paused = True
                continue
            self._form = form
            return self._heard(body)
        raise Failure("No form of a request is taken.", used=NOTHING)

    def _heard(self, body: bytes) -> Heard:
        try:
            answer = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise Failure("The other side answers with something else than JSON.") from None
        try:
            return self._hear(answer)
        except (KeyError, IndexError, TypeError, AttributeError):
            raise Failure("The other side answers in another form than that of its protocol.") from None


def tokens(usage: object, *, read: Callable[[dict[str, Any]], tuple[object, object]]) -> Tokens | None:
    """What a reply says was used; None where it says nothing that can be believed."""
    if not isinstance(usage, dict):
        return None
    try:
        came, went = read(usage)
    except TypeError:
        return None
    if type(came) is not int or type(went) is not int or not (0 <= came <= MOST_TOKENS and 0 <= went <= MOST_TOKENS):
        return None
    return Tokens(came, went)


def failed(*, status: int, headers: Any, code: object) -> Failure:
    """An answer with another status than 200, of whose words only a code is told: others may hold the key."""
    told = str(code) if isinstance(code, str) and code.isidentifier() and len(code) <= 60 else ""
    if status == 429:
        reason = "The other side has had enough requests for now"
    elif status in {401, 403}:
        reason = "The other side does not take INSIGHT_API_KEY"
    else:
        reason = "The other side gives no answer"
    # What was refused costs nothing; what broke may have been done.
    used = NOTHING if 300 <= status < 500 else None
    words = f" {told}" if told and told != settings.INSIGHT_API_KEY else ""
    return Failure(f"{reason} ({status}{words}).", status=status, pause_s=_pause_of(headers), used=used)


def broken(error: BaseException) -> Failure:
    """No whole answer: the network or the time. By what it came of, for libraries pack it up."""
    causes = {type(each).__name__ for each in _causes(error)}
    if "ConnectError" in causes:
        return Failure("Nobody answers at that address.", used=NOTHING)
    if causes & {"ReadTimeout", "ConnectTimeout", "WriteTimeout", "TimeoutError"}:
        return Failure("The other side did not answer in time.")
    return Failure("The answer broke off, or is too large or compressed.")


def _causes(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__
    return found


def _pause_of(headers: Any) -> float | None:
    """Seconds by the header Retry-After; more than anybody waits where it cannot be read."""
    told = headers.get("Retry-After")
    if told is None:
        return None
    try:
        return max(0.0, float(told))
    except ValueError:
        return float("inf")


def _pause(failure: Failure, *, until: float) -> bool:
    """Wait as long as is wanted, if that makes sense; whether it did."""
    pause_s = PAUSE_S if failure.pause_s is None else failure.pause_s
    if failure.status not in BUSY or not pause_s <= LONGEST_PAUSE_S or time.monotonic() + pause_s >= until:
        return False
    time.sleep(pause_s)
    return True

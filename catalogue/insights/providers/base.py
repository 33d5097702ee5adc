"""The protocols of insight providers, and the values that they take and return."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from decimal import Decimal
from typing import Protocol, runtime_checkable

from catalogue.hours import Hours
from catalogue.models import InsightCall

# As in the column of Insight.
MAX_TEXT_LENGTH = 600
# A claim cites the newest reviews behind it.
MAX_CITATIONS = 10


@dataclass(frozen=True, slots=True)
class ReviewInput:
    """A review as a provider reads it. `id` is the public id, `lang` is empty if unknown."""

    id: str
    stars: int
    text: str
    lang: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Discount:
    """An active offer rule. Weekday 0 is Monday."""

    weekdays: tuple[int, ...]
    time: time
    percent: int


@dataclass(frozen=True, slots=True)
class MarketRates:
    """How many of a sample of a market's reviews speak of each feature, and of the English ones write each noun."""

    reviews: int
    features: Mapping[str, int]
    english_reviews: int = 0
    phrases: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The input of one insight. Reviews are newest first; `hours` is None if unknown.

    `market` is None if too few reviews of the market are stored. `menu` are the dishes of the linked venue.
    """

    name: str
    rating: Decimal | None
    reviews: Sequence[ReviewInput]
    hours: Hours | None
    discounts: Sequence[Discount]
    market: MarketRates | None = None
    menu: Sequence[str] = ()

    @property
    def languages(self) -> dict[str, int]:
        """Count the reviews with a text by language, the most frequent first; "unknown" if the language is empty."""
        counts = Counter(review.lang or "unknown" for review in self.reviews if review.text)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that reviews mention, with the number of reviews, how many are positive, and the newest of them."""

    name: str
    mentions: int
    positive: int
    citations: tuple[str, ...]

    @property
    def positive_share(self) -> float:
        return round(self.positive / self.mentions, 2)


@dataclass(frozen=True, slots=True)
class FeatureClaim:
    """What the place is for (kind "occasion"), what it has ("feature"), or how guests speak of its people ("staff").

    More reviews say so than of other restaurants.
    """

    name: str
    kind: str
    mentions: int
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WatchOut:
    """A complaint that several reviews make."""

    text: str
    mentions: int
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A good time to visit, in local time. Day 0 is Monday; `until` is None if only the start is known.

    `basis` names the evidence: "reviews", "hours", "offers".
    """

    days: tuple[int, ...]
    start: str
    until: str | None
    basis: tuple[str, ...]
    citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BestTime:
    """The best time to visit, as text and as windows."""

    text: str
    windows: tuple[Window, ...]
    basis: tuple[str, ...]
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the text, and the reviews that support it."""

    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightDraft:
    """The output of a provider. An empty `text` means that the reviews support no claim.

    `disclosure` says how the text was made and which reviews were not read. `sentences` are those of a text by a
    language model; the local text is built from the claims, which have citations.
    """

    text: str
    disclosure: str
    best_time: BestTime | None = None
    dishes: tuple[Claim, ...] = ()
    aspects: tuple[Claim, ...] = ()
    watch_outs: tuple[WatchOut, ...] = ()
    features: tuple[FeatureClaim, ...] = ()
    sentences: tuple[Sentence, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one model call."""

    input: int
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The result of one model call: a validated draft, or the reason why there is none.

    `usage` is None if it is unknown.
    """

    outcome: InsightCall.Outcome
    draft: InsightDraft | None = None
    reason: str = ""
    usage: TokenUsage | None = None


@runtime_checkable
class RemoteProvider(Protocol):
    """A language model behind a network: calls cost money and time, and are never made inside a transaction."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def model(self) -> str: ...

    def max_usage(self, context: Context) -> TokenUsage:
        """The upper bound of what `request_draft` can use for this context."""
        ...

    def request_draft(self, context: Context) -> Reply:
        """Call the model. Returns a Reply within INSIGHT_TIMEOUT_S, also after errors of the provider."""
        ...


class InsightProvider(Protocol):
    """Writes insights locally. A new `version` makes the insights of the previous one stale."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def generate(self, context: Context) -> InsightDraft: ...

"""What writes insights, what it is given, and what it gives back."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from typing import Protocol, runtime_checkable

from catalogue.hours import Hours
from catalogue.models import InsightCall

# A text that is served is at most so long; the column of Insight is.
LONGEST = 600
# Of the reviews behind a claim so many are cited, the newest.
MOST_CITED = 10


@dataclass(frozen=True, slots=True)
class Opinion:
    """A review as a provider reads it; `id` is public, `lang` empty where nobody said it."""

    id: str
    stars: int
    text: str
    lang: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Discount:
    """A flow rule: so many percent at a time of these weekdays (0 is Monday)."""

    weekdays: tuple[int, ...]
    time: time
    percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """All that an insight is written from; reviews newest first, `hours` None where nobody knows them."""

    name: str
    rating: Decimal | None
    reviews: Sequence[Opinion]
    hours: Hours | None
    discounts: Sequence[Discount]

    @property
    def languages(self) -> dict[str, int]:
        """How many of the reviews have words in a language, the commonest first; "unknown" where nobody said it."""
        said = Counter(review.lang or "unknown" for review in self.reviews if review.text)
        return dict(sorted(said.items(), key=lambda found: (-found[1], found[0])))


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that reviews mention: how many do, how many of these are pleased, and the newest of them."""

    name: str
    mentions: int
    pleased: int
    citations: tuple[str, ...]

    @property
    def positive_share(self) -> float:
        """From 0 to 1."""
        return round(self.pleased / self.mentions, 2)


@dataclass(frozen=True, slots=True)
class WatchOut:
    """A complaint in our words, and who makes it."""

    text: str
    mentions: int
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A good time to go: days (0 is Monday) and wall clock, `until` None where only the beginning is known.

    `basis` says what it rests on: "reviews", "hours", "offers".
    """

    days: tuple[int, ...]
    start: str
    until: str | None
    basis: tuple[str, ...]
    citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BestTime:
    """When to go, in words and in windows."""

    text: str
    windows: tuple[Window, ...]
    basis: tuple[str, ...]
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the text, and the reviews that it rests on."""

    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightDraft:
    """What a provider makes of a context. Without a `text` it had nothing to say.

    `disclosure` tells the reader how it was made and what was not read. `sentences` are those of the text where a
    model wrote it; a text of our own is made of the claims, which have their citations.
    """

    text: str
    disclosure: str
    best_time: BestTime | None = None
    dishes: tuple[Claim, ...] = ()
    aspects: tuple[Claim, ...] = ()
    watch_outs: tuple[WatchOut, ...] = ()
    sentences: tuple[Sentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a model reads and writes, in its own units."""

    input: int
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came of asking a model: a draft that stood up to the reviews, or why there is none.

    `used` is None where nobody knows what was used.
    """

    outcome: InsightCall.Outcome
    draft: InsightDraft | None = None
    reason: str = ""
    used: Tokens | None = None


@runtime_checkable
class RemoteProvider(Protocol):
    """A model behind a network: it costs money and time, and is never asked inside a transaction."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def model(self) -> str: ...

    def most(self, context: Context) -> Tokens:
        """The most that asking for this can use."""
        ...

    def ask(self, context: Context) -> Reply:
        """Ask for an insight; whatever the other side does, there is a reply, within INSIGHT_TIMEOUT_S."""
        ...


class InsightProvider(Protocol):
    """Writes insights; another `version` writes them differently, so that those of the last are stale."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def generate(self, context: Context) -> InsightDraft: ...

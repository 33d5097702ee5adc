"""The prompt of a language model: instructions, the reviews as a JSON document, and the schema of the output."""

import re
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from catalogue.insights.guardrails.prompt_injection import is_suspicious, normalize_text
from catalogue.insights.providers.base import Context, ReviewInput, TokenUsage

# Characters of all reviews in the prompt, and of one; 24,000 are about 6,000 tokens of English.
MAX_INPUT_CHARS = 24_000
MAX_REVIEW_CHARS = 1_500
MAX_REVIEWS = 150
# This share of both limits goes to the newest reviews, the rest to each number of stars in turn.
NEWEST_SHARE = 0.5
# Reasoning models spend the larger part of it before they write.
MAX_OUTPUT_TOKENS = 4_000
# What providers add to a request: roles, tools, their own text for a schema.
OVERHEAD_TOKENS = 1_000
# Items and citations of the output after these are ignored.
MAX_ITEMS = 20
MAX_LABELS = 40

INSTRUCTIONS = Path(__file__).with_name("instructions.txt").read_text(encoding="utf-8").rstrip()
# In the subset of JSON Schema that all providers support.
SCHEMA: dict[str, Any] = orjson.loads(Path(__file__).with_name("output_schema.json").read_bytes())
INSTRUCTIONS_WITH_SCHEMA = (
    f"{INSTRUCTIONS}\n\nThe answer is one JSON object of this schema, and nothing around it:\n"
    + orjson.dumps(SCHEMA).decode()
)
CODE_FENCE = re.compile(r"\s*```\w*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """The document for the model, and the reviews in it by their labels ("r1"), normalized as in the document."""

    document: str
    reviews: Mapping[str, ReviewInput]

    @property
    def max_usage(self) -> TokenUsage:
        """The upper bound: each byte of the request counts as a token (English has about four bytes a token)."""
        size = len(self.document.encode()) + len(INSTRUCTIONS_WITH_SCHEMA.encode()) + len(orjson.dumps(SCHEMA))
        return TokenUsage(input=size + OVERHEAD_TOKENS, output=MAX_OUTPUT_TOKENS)


@dataclass(frozen=True, slots=True)
class CitedText:
    """A sentence or a dish name as the model wrote it, and the labels of the reviews that it cites."""

    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """The parsed output of the model, not validated yet."""

    sentences: tuple[CitedText, ...]
    dishes: tuple[CitedText, ...]


class InvalidOutput(ValueError):
    """The output does not follow the schema. The message is for staff and quotes nothing of the output."""


def build_prompt(context: Context) -> Prompt:
    """Build the prompt from the reviews that are not suspicious, within the size limits. 50 µs for each review."""
    reviews = {f"r{number}": review for number, review in enumerate(_select_reviews(context.reviews), 1)}
    document = {
        # Restaurant names come from third parties too.
        "restaurant": "" if is_suspicious(context.name) else normalize_text(context.name),
        "reviews": [
            {"id": label, "stars": review.stars, "written": f"{review.created_at:%Y-%m}", "text": review.text}
            for label, review in reviews.items()
        ],
    }
    return Prompt(orjson.dumps(document).decode(), reviews)


def _select_reviews(reviews: Sequence[ReviewInput]) -> list[ReviewInput]:
    """Select the newest reviews, then in turn the newest of each number of stars. Keeps the order of the input."""
    texts = {
        index: normalize_text(review.text)[:MAX_REVIEW_CHARS]
        for index, review in enumerate(reviews)
        if not is_suspicious(review.text)
    }
    remaining = deque(index for index, text in texts.items() if text)
    selected: list[int] = []
    chars_left = MAX_INPUT_CHARS
    while remaining and chars_left > NEWEST_SHARE * MAX_INPUT_CHARS and len(selected) < NEWEST_SHARE * MAX_REVIEWS:
        chars_left -= len(texts[remaining[0]])
        selected.append(remaining.popleft())
    by_stars: dict[int, deque[int]] = defaultdict(deque)
    for index in remaining:
        by_stars[reviews[index].stars].append(index)
    queues = deque(by_stars[stars] for stars in sorted(by_stars))
    while queues and len(selected) < MAX_REVIEWS:
        queue = queues.popleft()
        index = queue.popleft()
        if len(texts[index]) > chars_left:
            continue
        chars_left -= len(texts[index])
        selected.append(index)
        if queue:
            queues.append(queue)
    return [replace(reviews[index], text=texts[index]) for index in sorted(selected)]


def parse_output(text: str) -> ModelOutput:
    """Parse the output of the model, with or without a Markdown code fence. Raises InvalidOutput."""
    fenced = CODE_FENCE.fullmatch(text)
    try:
        parsed = orjson.loads(fenced[1] if fenced else text)
    except orjson.JSONDecodeError:
        raise InvalidOutput("The answer is no JSON.") from None
    if not isinstance(parsed, dict):
        raise InvalidOutput("The answer is no JSON object.")
    return ModelOutput(_parse_list(parsed, "sentences", "text"), _parse_list(parsed, "dishes", "name"))


def _parse_list(parsed: dict[str, Any], name: str, text_field: str) -> tuple[CitedText, ...]:
    items = parsed.get(name)
    if not isinstance(items, list):
        raise InvalidOutput(f"The answer has no list of {name}.")
    result = []
    for item in items[:MAX_ITEMS]:
        match item:
            case {"citations": list() as labels} if isinstance(text := item.get(text_field), str) and all(
                isinstance(label, str) for label in labels
            ):
                result.append(CitedText(text, tuple(dict.fromkeys(labels[:MAX_LABELS]))))
            case _:
                raise InvalidOutput(f"An item in {name} of the answer does not follow the schema.")
    return tuple(result)

"""Lists over all of their pages."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
RecordT = TypeVar("RecordT")
Record_co = TypeVar("Record_co", covariant=True)


class Page(Protocol[Record_co]):
    """What a list operation returns. A list without `pagination` is one page."""

    @property
    def data(self) -> Sequence[Record_co]: ...


PageT = TypeVar("PageT", bound=Page[Any])


def iterate_pages(operation: Callable[P, PageT], *args: P.args, **kwargs: P.kwargs) -> Iterator[PageT]:
    """The pages of a list from the first, or from the `cursor` in the arguments, each requested when it is needed.

    `operation` is the `sync` function of a list operation; the arguments are passed to it.
    """
    while True:
        page = operation(*args, **kwargs)
        yield page
        following = next_arguments(page)
        if not following:
            return
        kwargs.pop("page", None)
        kwargs.update(following)


def iterate(operation: Callable[P, Page[RecordT]], *args: P.args, **kwargs: P.kwargs) -> Iterator[RecordT]:
    """The records of all pages."""
    for page in iterate_pages(operation, *args, **kwargs):
        yield from page.data


async def iterate_pages_async(
    operation: Callable[P, Awaitable[PageT]], *args: P.args, **kwargs: P.kwargs
) -> AsyncIterator[PageT]:
    """As `iterate_pages`, with the `asyncio` function of an operation."""
    while True:
        page = await operation(*args, **kwargs)
        yield page
        following = next_arguments(page)
        if not following:
            return
        kwargs.pop("page", None)
        kwargs.update(following)


async def iterate_async(
    operation: Callable[P, Awaitable[Page[RecordT]]], *args: P.args, **kwargs: P.kwargs
) -> AsyncIterator[RecordT]:
    """As `iterate`, with the `asyncio` function of an operation."""
    async for page in iterate_pages_async(operation, *args, **kwargs):
        for record in page.data:
            yield record


def next_arguments(page: Page[Any]) -> dict[str, Any]:
    """The arguments of the page after this one; none after the last."""
    pagination = getattr(page, "pagination", None)
    if pagination is None or not pagination.has_more:
        return {}
    # The feed of changes goes on from a number.
    since = getattr(pagination, "next_since", None)
    return {"cursor": pagination.next_cursor} if since is None else {"since": since}

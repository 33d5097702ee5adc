"""The row of the back office: the slowest of its pages, and the one that asks the most."""

from collections.abc import Iterator

from benchmarks import back_office
from benchmarks.back_office import MAX_MS, MAX_QUERIES, PageTiming
from benchmarks.figures import OURS, Figure, Row, Verdict, WrongAnswer
from benchmarks.suites import Run
from framework.django_internals import model_admins


class Pages:
    """Every kind of page of every list, as benchmarks.back_office opens them; --quick opens the lists, once."""

    name = "pages"
    rows: tuple[str, ...] = ("admin",)
    is_by_connections = False

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """What the progress bar counts."""
        from django.contrib import admin

        return len(model_admins(admin.site))

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """The row. Raises WrongAnswer when a page was not answered."""
        every = list(open_pages(run))
        if broken := [one.path for one in every if one.status != 200]:
            raise WrongAnswer(f"admin: not answered: {', '.join(broken[:5])}")
        slowest, sending = max(every, key=lambda one: one.ms), max(every, key=lambda one: one.queries)
        times = sorted(one.ms for one in every)
        beyond = [one for one in every if not one.is_good]
        run.settings["admin"] = {
            "pages": f"{len(every)}, tries of each: {warm_up_count(run)}, in this process without its web server",
            "slowest": f"{slowest.path[:100]}: {slowest.ms:.0f} ms",
            "asks the most": f"{sending.path[:100]}: {sending.queries} queries",
            "beyond the goal": len(beyond),
        }
        figure = Figure(p50_ms=times[len(times) // 2], p99_ms=times[int(len(times) * 0.99)])
        yield Row(
            name="admin",
            what=f"{len(every)} pages",
            figures={OURS: figure},
            verdicts=(
                Verdict(row="admin", of="slowest page", value=slowest.ms, goal=MAX_MS, is_maximum=True, unit="ms"),
                Verdict(
                    row="admin",
                    of="most queries",
                    value=sending.queries,
                    goal=MAX_QUERIES,
                    is_maximum=True,
                    unit="",
                ),
            ),
        )


def warm_up_count(run: Run) -> int:
    """How often a page is opened."""
    return 1 if run.arguments.quick else back_office.ATTEMPTS


def open_pages(run: Run) -> Iterator[PageTiming]:
    """The pages of every list that is registered."""
    from django.contrib import admin
    from django.test import Client

    from accounts.models import User

    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    client.force_login(User.objects.filter(is_superuser=True).earliest("pk"))
    # What a process makes once, like the templates of a list.
    back_office.open_page(client, "reference", back_office.REFERENCE)
    for model, its in sorted(model_admins(admin.site).items(), key=lambda one: str(one[0])):
        run.step(f"admin: {model.__name__}")
        if run.arguments.quick:
            yield back_office.open_page(client, "list", back_office.changelist_path(model), tries=warm_up_count(run))
        else:
            yield from back_office.admin_page_paths(client, model, its)

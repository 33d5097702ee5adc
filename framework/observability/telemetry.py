"""Error reports to Sentry and traces by OpenTelemetry, if the settings name a receiver.

Neither contains personal data: no header, body, query string, path, IP address, cookie or value.
"""

from collections.abc import Callable
from typing import Any

from celery.signals import before_task_publish, task_failure, task_postrun, task_prerun
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from framework.observability import logging, request_id

NAME = "tablewire"


def set_up() -> None:
    """Configure the receivers. Nothing is imported for one that is not set."""
    request_id.connect_celery_signals()
    if settings.SENTRY_DSN:
        set_up_sentry(settings.SENTRY_DSN)
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        set_up_tracing(settings.OTEL_EXPORTER_OTLP_ENDPOINT)


def set_up_sentry(dsn: str) -> None:
    """Send unexpected exceptions to Sentry."""
    import sentry_sdk

    sentry_sdk.init(
        dsn=dsn,
        release=settings.VERSION,
        environment=settings.PUBLIC_BASE_URL,
        before_send=redact_event,
        send_default_pii=False,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        auto_session_tracking=False,
    )


# The fields of an event that are sent.
EVENT_FIELDS = frozenset(
    (
        *("event_id", "timestamp", "level", "platform", "release", "environment", "transaction", "exception"),
        *("logger", "modules", "sdk", "tags", "contexts"),
    )
)


def redact_event(event: Any, hint: Any) -> Any:
    """The event with the exception type, the stack and the request id, without messages that may contain values."""
    redacted = {name: value for name, value in event.items() if name in EVENT_FIELDS}
    redacted["tags"] = {"request_id": logging.request_id()}
    redacted["contexts"] = {"runtime": (event.get("contexts") or {}).get("runtime", {})}
    for error in (redacted.get("exception") or {}).get("values") or []:
        error["value"] = ""
    if line := event.get("logentry"):
        # The format string, without its arguments.
        redacted["logentry"] = {"message": line.get("message", "")}
    return redacted


def set_up_tracing(endpoint: str) -> None:
    """Send a span for each request, and one for each task in the trace of the request that enqueued it."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource({"service.name": NAME, "service.version": settings.VERSION}))
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=2))
    )
    trace.set_tracer_provider(provider)
    before_task_publish.connect(inject_trace, weak=False, dispatch_uid=NAME)
    task_prerun.connect(start_span, weak=False, dispatch_uid=NAME)
    task_failure.connect(record_failure, weak=False, dispatch_uid=NAME)
    task_postrun.connect(end_span, weak=False, dispatch_uid=NAME)


class TracingMiddleware:
    """A span for each request, named by its route. Only installed with a receiver."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        from opentelemetry import trace

        self.get_response = get_response
        self.tracer = trace.get_tracer(NAME)
        self.kind = trace.SpanKind.SERVER

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Trace the request. The client's trace context is ignored: clients could inject spans."""
        with self.tracer.start_as_current_span("request", kind=self.kind) as span:
            response = self.get_response(request)
            route = request.resolver_match.route if request.resolver_match else ""
            span.update_name(f"{request.method} /{route}")
            span.set_attribute("http.request.method", request.method or "")
            span.set_attribute("http.route", f"/{route}")
            span.set_attribute("http.response.status_code", response.status_code)
            span.set_attribute("tablewire.request_id", logging.request_id())
            return response


def inject_trace(*, headers: dict[str, Any] | None = None, **rest: Any) -> None:
    from opentelemetry.propagate import inject

    if headers is not None:
        inject(headers)


# By task id: the span of a running task, and the context token to detach afterwards.
active_spans: dict[str, tuple[Any, Any]] = {}


def start_span(*, task_id: str, task: Any, **rest: Any) -> None:
    from opentelemetry import context, propagate, trace

    parent = propagate.extract({"traceparent": task.request.get("traceparent") or ""})
    span = trace.get_tracer(NAME).start_span(task.name, context=parent, kind=trace.SpanKind.CONSUMER)
    span.set_attribute("tablewire.request_id", logging.request_id())
    active_spans[task_id] = (span, context.attach(trace.set_span_in_context(span)))


def record_failure(*, task_id: str, exception: BaseException, **rest: Any) -> None:
    from opentelemetry.trace import StatusCode

    if task_id in active_spans:
        active_spans[task_id][0].set_status(StatusCode.ERROR, type(exception).__name__)


def end_span(*, task_id: str, **rest: Any) -> None:
    from opentelemetry import context

    if task_id in active_spans:
        span, token = active_spans.pop(task_id)
        context.detach(token)
        span.end()

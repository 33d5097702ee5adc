"""REST views of exports."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalogue.api.openapi_responses import order_parameters, order_responses, product_extensions
from catalogue.exports import formats
from catalogue.exports.downloads import byte_ranges, signed_urls
from catalogue.exports.requests import checkout, commands, payment_state, representation
from catalogue.filters.exports import DownloadParams
from catalogue.models import Export
from catalogue.serializers.exports import ExportAnswer, ExportRecord, NewExport
from catalogue.tasks import enqueue_export_step
from framework.api import conditional_requests
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.query_params.declarations import PageParams
from framework.api.urls import public_url
from payments.interface import DataViewSet, PaidResponse, Purchase, caller_of, identify_caller, parse_proof

ID = schema.path_id("ex")
NAME_PATTERN = "[a-z0-9.-]{1,80}"
NAME = OpenApiParameter(
    "name",
    {"type": "string", "pattern": f"^{NAME_PATTERN}$"},
    OpenApiParameter.PATH,
    description="A name in the record, or `manifest.json`.",
)


def describe_header(name: str, description: str, **options: Any) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, description=description, **options)


LOCATION = describe_header("Location", "The URL of the record.", required=True, response=[202])
RANGE = describe_header(
    "Range", "One range of bytes: `bytes=1000-`. Other forms, and ranges of the manifest, are ignored."
)
BUCKET_LOCATION = describe_header(
    "Location", "The URL of the file in the bucket, which expires with the link.", response=[302]
)
TYPES = dict.fromkeys(formats.CONTENT_TYPES.values())
CONTENT: dict[Any, Any] = {
    **{(200, kind): OpenApiResponse(OpenApiTypes.BINARY, description="The whole file.") for kind in TYPES},
    (200, signed_urls.MANIFEST_TYPE): OpenApiResponse(OpenApiTypes.OBJECT, description="The manifest."),
    **{(206, kind): OpenApiResponse(OpenApiTypes.BINARY, description="The requested range.") for kind in TYPES},
    302: OpenApiResponse(description="The files are stored in a bucket, which supports Range too."),
}


class ExportViewSet(DataViewSet[Export]):
    """Bulk exports of the wallet of the session, or of the wallets of the account."""

    # `initial` checks the session, and the OpenAPI document declares it.
    permission_classes = []
    lookup_url_kwarg = "id"
    # No other text is an id.
    lookup_value_regex = "[a-z0-9_]{1,40}"
    query_actions = ("list", "file")

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Before other errors, except for files, which a signed link authorizes. The action is None for an unsupported
        # method, and `metadata` for OPTIONS.
        if self.action not in (None, "metadata", "file"):
            self.wallets = commands.require_wallets(caller_of(request))
        super().initial(request, *args, **kwargs)

    @extend_schema(
        operation_id="create_export",
        summary="Export in bulk",
        parameters=[LOCATION, *order_parameters()],
        request=NewExport,
        responses=order_responses(ExportRecord),
        extensions=product_extensions(*payment_state.PRODUCTS.values(), one_a_call=True),
    )
    def create(self, request: Request) -> Response:
        """Start an export; workers write its files. Needs the Enterprise tier, each separately.

        While an equal export is unfinished, this returns it, free; the payment of an export always returns that
        export. An export that fails, or is cancelled before it has succeeded, is refunded. A wallet has at most three
        unfinished exports.
        """
        form = NewExport(data=json_body(request))
        form.is_valid(raise_exception=True)
        bought = checkout.order_export(
            caller_of(request),
            form.validated_data,
            purchase=Purchase.for_request(request),
            proof=parse_proof(request.headers),
            receipt_token=request.headers.get("X-Receipt"),
            now=timezone.now(),
        )
        enqueue_export_step(bought.export)
        answer = self.answer(bought.export, status.HTTP_202_ACCEPTED)
        if bought.receipt is not None:
            answer = PaidResponse(answer.data, bought.receipt, status=status.HTTP_202_ACCEPTED)
        answer["Location"] = public_url(f"/v1/exports/{bought.export.public_id}")
        return answer

    @extend_schema(
        operation_id="list_exports",
        summary="List your exports, newest first",
        parameters=[PageParams],
        responses=schema.documented_responses({200: ExportAnswer}, errors=[403]),
    )
    def list(self, request: Request) -> Response:
        """The exports of the wallet of the session, or of all wallets of the account, finished or not."""
        pages = PageParams.read(request)
        found = representation.list_page(
            self.wallets, limit=pages["limit"], cursor=pages.get("cursor"), now=timezone.now()
        )
        return Response(ExportAnswer(found).data)

    @extend_schema(
        operation_id="get_export",
        summary="Retrieve an export",
        parameters=[ID],
        responses=schema.documented_responses({200: ExportRecord}, errors=[403, 404]),
    )
    def retrieve(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """The progress of an export; once it has succeeded, its files with checksums and new links."""
        return self.answer(representation.find_export(self.wallets, id))

    @extend_schema(
        operation_id="cancel_export",
        summary="Cancel an export",
        parameters=[ID],
        responses=schema.documented_responses(
            {204: OpenApiResponse(description="The export was cancelled and its files were deleted.")},
            errors=[403, 404],
        ),
    )
    def destroy(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """Stop an export and delete its files; one that has succeeded expires at once. The record remains.

        The payment is refunded unless the export has succeeded.
        """
        export = representation.find_export(self.wallets, id)
        commands.cancel_export(export, actor=f"wallet:{export.wallet_id}", now=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="get_export_file",
        summary="Fetch a file of an export",
        # A signed link needs no session. The annotation of drf-spectacular is narrower than its code.
        auth=[{"walletSession": []}, {}],  # type: ignore[list-item]
        parameters=[ID, NAME, DownloadParams, RANGE, BUCKET_LOCATION],
        responses=CONTENT
        | schema.documented_responses(
            {
                304: schema.NOT_MODIFIED,
                416: OpenApiResponse(schema.Error, description="The range is outside of the file."),
            },
            errors=[403, 404, 409, 410],
        ),
    )
    @action(detail=True, url_path=f"files/(?P<name>{NAME_PATTERN})")
    def file(self, request: Request, id: str, name: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """A file, by its signed link without a session, or by its plain URL with the session of the wallet.

        Its ETag is its SHA-256. A single range of bytes is supported, so that downloads can be resumed.
        """
        now = timezone.now()
        link = DownloadParams.read(request)
        if link:
            until = signed_urls.verify_link(
                id, name, until=link.get("until", 0), signature=link.get("signature", ""), now=now
            )
            export = get_object_or_404(Export.objects.known_as(id))
        else:
            # The rate limiter does not identify callers of files (payments.rate_limits).
            export = representation.find_export(commands.require_wallets(identify_caller(request, now=now)), id)
            until = signed_urls.link_expiry(export, now=now)
        return file_response(request, signed_urls.find_file(export, name, now=now), until=until, now=now)

    def answer(self, export: Export, code: int = status.HTTP_200_OK) -> Response:
        """Return the record of an export, which is not cacheable."""
        shown = representation.represent_export(export, now=timezone.now())
        return Response(ExportRecord(shown).data, status=code, headers={"Cache-Control": "no-store"})


def file_response(request: Request, stored: signed_urls.StoredFile, *, until: datetime, now: datetime) -> HttpResponse:
    """Return a file, a range of it, its headers, 304, or a redirect to the bucket until its link expires.

    The body is not streamed (worker.ROWS_A_PART limits its size), because a slow reader of a stream would block a
    thread.
    """
    tag = f'"{stored.sha256}"'
    # The manifest is small, and a part of it would not be valid JSON.
    has_ranges = stored.content_type != signed_urls.MANIFEST_TYPE
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes" if has_ranges else "none",
        "Cache-Control": signed_urls.CACHE_CONTROL,
    }
    if conditional_requests.matches_if_none_match(request, stored.sha256):
        return HttpResponse(status=status.HTTP_304_NOT_MODIFIED, headers=headers)
    redirect_url = stored.redirect_url(str(request.method), until=until, now=now)
    if redirect_url is not None:
        # Not cacheable, because the URL gives access to the file.
        return HttpResponse(
            status=status.HTTP_302_FOUND, headers={"Location": redirect_url, "Cache-Control": "no-store"}
        )
    headers["Content-Disposition"] = str(content_disposition_header(as_attachment=True, filename=stored.name))
    if request.method == "HEAD":
        headers["Content-Length"] = str(stored.size)
        return HttpResponse(content_type=stored.content_type, headers=headers)
    range_header = (
        request.headers.get("Range", "") if has_ranges and request.headers.get("If-Range", tag) == tag else ""
    )
    span = byte_ranges.parse_range(range_header, size=stored.size)
    content = stored.read(span)
    headers |= {"Content-Range": span.content_range} if span else {}
    return HttpResponse(
        content,
        content_type=stored.content_type,
        status=status.HTTP_206_PARTIAL_CONTENT if span else status.HTTP_200_OK,
        headers={**headers, "Content-Length": str(len(content))},
    )

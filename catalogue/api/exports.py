"""Exports over HTTP."""

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

from catalogue import filters, serializers
from catalogue.api.openapi_responses import ordered, ordering, sells
from catalogue.exports import formats
from catalogue.exports.downloads import byte_ranges, signed_urls
from catalogue.exports.requests import checkout, commands, payment_state, representation
from catalogue.models import Export
from catalogue.tasks import enqueue_export_step
from framework.api import conditional_requests
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.urls import public_url
from payments import x402
from payments.identity.caller import caller_of, identify
from payments.identity.drf_authentication import DataViewSet
from payments.x402.purchase import Purchase

ID = schema.path_id("ex")
LOCATION = OpenApiParameter(
    "Location", str, OpenApiParameter.HEADER, required=True, response=[202], description="Where the record is."
)
NAME = OpenApiParameter(
    "name",
    {"type": "string", "pattern": "^[a-z0-9.-]{1,80}$"},
    OpenApiParameter.PATH,
    description="As the record says it, or `manifest.json`.",
)
RANGE = OpenApiParameter(
    "Range",
    str,
    OpenApiParameter.HEADER,
    description="One range of bytes: `bytes=1000-`. Others, and any of the manifest, give all.",
)
ELSEWHERE = OpenApiParameter(
    "Location",
    str,
    OpenApiParameter.HEADER,
    response=[302],
    description="Where the file is fetched from, for as long as the link is good.",
)
TYPES = dict.fromkeys(formats.CONTENT_TYPES.values())
CONTENT: dict[Any, Any] = {
    **{(200, kind): OpenApiResponse(OpenApiTypes.BINARY, description="The whole file.") for kind in TYPES},
    (200, signed_urls.MANIFEST_TYPE): OpenApiResponse(OpenApiTypes.OBJECT, description="The manifest."),
    **{(206, kind): OpenApiResponse(OpenApiTypes.BINARY, description="The range asked for.") for kind in TYPES},
    302: OpenApiResponse(description="The files are kept in a bucket: fetch this one there, where Range works too."),
}


class ExportViewSet(DataViewSet[Export]):
    """Bulk exports of the wallet that the session has proven."""

    # Not anybody: `initial` asks, and the document says so.
    permission_classes = []
    queryset = Export.objects.none()
    serializer_class = serializers.ExportRecord
    lookup_url_kwarg = "id"
    # Anything else cannot be an id, and need not be looked up.
    lookup_value_regex = "[a-z0-9_]{1,40}"
    query_actions = ("list", "file")

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Ask who it is before anything is judged; a signed link needs nobody."""
        # An action is None, or `metadata` for OPTIONS, where the address does not have the method.
        if self.action not in (None, "metadata", "file"):
            self.wallet = commands.require_wallet(caller_of(request))
        super().initial(request, *args, **kwargs)

    @extend_schema(
        operation_id="create_export",
        summary="Export in bulk",
        parameters=[LOCATION, *ordering()],
        request=serializers.NewExport,
        responses=ordered(serializers.ExportRecord),
        extensions=sells(*payment_state.PRODUCTS.values(), one_a_call=True),
    )
    def create(self, request: Request) -> Response:
        """Workers write the files; GET the record for the progress. Sold from the Enterprise tier, each by itself.

        While an export of the same kind is not finished, this returns that one, free; the payment that bought one
        always does. What fails, or is cancelled before it has succeeded, is paid back. A wallet has at most three
        unfinished ones.
        """
        form = serializers.NewExport(data=json_body(request))
        form.is_valid(raise_exception=True)
        bought = checkout.order_export(
            caller_of(request),
            form.validated_data,
            purchase=Purchase.for_request(request),
            proof=x402.parse_proof(request.headers),
            receipt_token=request.headers.get("X-Receipt"),
            now=timezone.now(),
        )
        enqueue_export_step(bought.export)
        answer = self.answer(bought.export, status.HTTP_202_ACCEPTED)
        if bought.receipt is not None:
            answer = x402.PaidResponse(answer.data, bought.receipt, status=status.HTTP_202_ACCEPTED)
        answer["Location"] = public_url(f"/v1/exports/{bought.export.public_id}")
        return answer

    @extend_schema(
        operation_id="list_exports",
        summary="List your exports, newest first",
        parameters=[filters.PageParams],
        responses=schema.documented_responses({200: serializers.ExportAnswer}, refusals=[403]),
    )
    def list(self, request: Request) -> Response:
        """Those of the wallet of the session, finished or not."""
        pages = filters.PageParams.read(request)
        found = representation.list_page(
            self.wallet, limit=pages["limit"], cursor=pages.get("cursor"), now=timezone.now()
        )
        return Response(serializers.ExportAnswer(found).data)

    @extend_schema(
        operation_id="get_export",
        summary="Retrieve an export",
        parameters=[ID],
        responses=schema.documented_responses({200: serializers.ExportRecord}, refusals=[403, 404]),
    )
    def retrieve(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """Its progress; once it has succeeded, its files with their checksums and fresh links."""
        return self.answer(representation.find_export(self.wallet, id))

    @extend_schema(
        operation_id="cancel_export",
        summary="Cancel an export",
        parameters=[ID],
        responses=schema.documented_responses(
            {204: OpenApiResponse(description="It is not written any further, and its files are gone.")},
            refusals=[403, 404],
        ),
    )
    def destroy(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """Stop it and remove its files; one that has succeeded expires at once. The record stays.

        What was paid is owed back where it has not succeeded.
        """
        commands.cancel_export(
            representation.find_export(self.wallet, id), actor=f"wallet:{self.wallet}", now=timezone.now()
        )
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="get_export_file",
        summary="Fetch a file of an export",
        # A signed link needs no session. The annotation of drf-spectacular is narrower than its code.
        auth=[{"walletSession": []}, {}],  # type: ignore[list-item]
        parameters=[ID, NAME, filters.Link, RANGE, ELSEWHERE],
        responses=CONTENT
        | schema.documented_responses(
            {
                304: schema.NOT_MODIFIED,
                416: OpenApiResponse(schema.Error, description="No byte of the file is in the range."),
            },
            refusals=[403, 404, 409, 410],
        ),
    )
    @action(detail=True, url_path="files/(?P<name>[a-z0-9.-]{1,80})")
    def file(self, request: Request, id: str, name: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """By its signed link, which needs no session; or by its plain address with the session of its wallet.

        Its ETag is its SHA-256; a single range of bytes is served, so that a download can be resumed.
        """
        now = timezone.now()
        link = filters.Link.read(request)
        if link:
            until = signed_urls.verify_link(
                id, name, until=link.get("until", 0), signature=link.get("signature", ""), now=now
            )
            export = get_object_or_404(Export.objects.known_as(id))
        else:
            # The doorway lets files pass without asking who it is (payments.rate_limits).
            self.wallet = commands.require_wallet(identify(request, now=now))
            export = representation.find_export(self.wallet, id)
            until = signed_urls.link_expiry(export, now=now)
        return sent(request, signed_urls.find_file(export, name, now=now), until=until, now=now)

    def answer(self, export: Export, code: int = status.HTTP_200_OK) -> Response:
        """The record of an export, which changes from one look to the next."""
        shown = representation.represent_export(export, now=timezone.now())
        return Response(serializers.ExportRecord(shown).data, status=code, headers={"Cache-Control": "no-store"})


def sent(request: Request, kept: signed_urls.StoredFile, *, until: datetime, now: datetime) -> HttpResponse:
    """A file, the range of it that was asked for, its headers alone, or the word that the caller has it already.

    In one piece (write.ROWS_A_PART bounds it): of a body that is made bit by bit, the next bit waits on a thread for a
    reader who takes their time, and threads are few. Of a file in a bucket only where it is, until then.
    """
    tag = f'"{kept.sha256}"'
    # A part of the manifest would be no JSON; it is small, and told whole.
    has_ranges = kept.content_type != signed_urls.MANIFEST_TYPE
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes" if has_ranges else "none",
        "Cache-Control": signed_urls.CACHE_CONTROL,
    }
    if conditional_requests.matches_if_none_match(request, kept.sha256):
        return HttpResponse(status=status.HTTP_304_NOT_MODIFIED, headers=headers)
    redirect_url = kept.redirect_url(str(request.method), until=until, now=now)
    if redirect_url is not None:
        # Not to be kept by anybody: it lets everybody in who has it.
        return HttpResponse(
            status=status.HTTP_302_FOUND, headers={"Location": redirect_url, "Cache-Control": "no-store"}
        )
    headers["Content-Disposition"] = str(content_disposition_header(as_attachment=True, filename=kept.name))
    if request.method == "HEAD":
        headers["Content-Length"] = str(kept.size)
        return HttpResponse(content_type=kept.content_type, headers=headers)
    asked = request.headers.get("Range", "") if has_ranges and request.headers.get("If-Range", tag) == tag else ""
    span = byte_ranges.parse_range(asked, size=kept.size)
    content = kept.read(span or byte_ranges.ByteRange(0, kept.size - 1, kept.size))
    headers |= {"Content-Range": span.content_range} if span else {}
    return HttpResponse(
        content,
        content_type=kept.content_type,
        status=status.HTTP_206_PARTIAL_CONTENT if span else status.HTTP_200_OK,
        headers={**headers, "Content-Length": str(len(content))},
    )

"""REST view of reports of wrong data."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from catalogue.api.openapi_responses import SLUG
from catalogue.models import Report
from catalogue.moderation import reports
from catalogue.serializers.reports import NewReport, ReportRecord
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.rate_limits.client_ip import client_network
from framework.django_internals import wrapped_request
from payments.interface import DataViewSet


class ReportViewSet(DataViewSet[Report]):
    """Reports of wrong data."""

    queryset = Report.objects.none()
    serializer_class = ReportRecord
    query_actions = ()

    @extend_schema(
        operation_id="create_report",
        summary="Report wrong data of a restaurant",
        parameters=[SLUG],
        request=NewReport,
        responses=schema.documented_responses({200: ReportRecord, 201: ReportRecord}, errors=[308, 404, 410]),
    )
    def create(self, request: Request, slug: str) -> Response:
        """Report a closed or moved restaurant, or wrong data, which our staff check. Free; no key. A repeated report
        is 200 and adds none while the first is open. At most 5 a minute, 30 a day and 5 open ones per restaurant from
        an IP address.
        """
        form = NewReport(data=json_body(request))
        form.is_valid(raise_exception=True)
        reporter = reports.hash_reporter(client_network(wrapped_request(request)))
        filed = reports.file_report(slug, **form.validated_data, reporter=reporter, now=timezone.now())
        code = status.HTTP_201_CREATED if filed.is_new else status.HTTP_200_OK
        return Response(ReportRecord(filed.report).data, status=code, headers={"Cache-Control": "no-store"})

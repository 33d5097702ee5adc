"""Tools for what has been paid."""

from catalogue.mcp.tools.declarations import declare
from framework.api.fields import TextField
from framework.api.renderers import JSONRenderer
from framework.mcp.responses import ToolResult
from framework.mcp.tools import ToolCall, Values
from framework.public_ids import pattern
from payments.interface import (
    NewRefundRequest,
    PaymentAnswer,
    PaymentParameters,
    PaymentRecord,
    caller_of,
    get_payers,
    list_payments,
)
from payments.interface import request_refund as request_payment_refund


class RefundArguments(NewRefundRequest):
    """The arguments of request_refund."""

    id = TextField(pattern=pattern("pay"), hint="This is no id of a payment, which begins with `pay_`.")


def list_own_payments(call: ToolCall, values: Values) -> ToolResult:
    page = list_payments(get_payers(caller_of(call.request)), **values, now=call.now)
    return ToolResult(JSONRenderer().render(PaymentAnswer(page).data))


def request_refund(call: ToolCall, values: Values) -> ToolResult:
    payers = get_payers(caller_of(call.request))
    payment = request_payment_refund(payers, values["id"], reason=values["reason"], now=call.now)
    return ToolResult(JSONRenderer().render(PaymentRecord(payment).data))


LIST_PAYMENTS = declare("list_payments", list_own_payments, serializer=PaymentParameters)
REQUEST_REFUND = declare("request_refund", request_refund, serializer=RefundArguments)

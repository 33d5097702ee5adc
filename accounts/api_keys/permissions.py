"""Permission check by scope: each operation requires one scope of the key."""

from typing import Any, cast

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.models import ApiKey, Scope
from framework.errors import ApiError, ErrorCode


class InsufficientScope(ApiError):
    """The key lacks the scope. 401 with the challenge of RFC 6750, because seed 000 has no 403."""

    code = ErrorCode.INSUFFICIENT_SCOPE

    def __init__(self, scope: str, *, what: str = "API key") -> None:
        challenge = f'Bearer realm="tablewire", error="insufficient_scope", scope="{scope}"'
        super().__init__(f"This {what} lacks the scope `{scope}`.", headers={"WWW-Authenticate": challenge})


def get_required_scopes(view: Any, method: str | None) -> list[str]:
    """Return the scopes of which this method of the view requires one: those of the view's `scopes`, read on its
    `scope`, or write on it or on its `write_scope`."""
    if method not in SAFE_METHODS:
        return [Scope(f"{getattr(view, 'write_scope', view.scope)}:write").value]
    return [Scope(f"{scope}:read").value for scope in getattr(view, "scopes", None) or [view.scope]]


class HasScope(BasePermission):
    """Checks the scope before a record is read, so that a rejection does not reveal whether the record exists."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Raise InsufficientScope without the scope; a method that the view does not support gets 405 later."""
        if request.method not in view.allowed_methods:
            return True
        scopes = get_required_scopes(view, request.method)
        key = cast("ApiKey", request.auth)
        if not set(scopes) & set(key.scopes):
            raise InsufficientScope(scopes[0], what="access token" if key.app_id else "API key")
        return True

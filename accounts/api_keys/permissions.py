"""What a key may do: each operation needs one scope of it."""

from typing import Any, cast

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.models import ApiKey, Scope
from framework.errors import ApiError, ErrorCode


class InsufficientScope(ApiError):
    """The key is valid and may not do this. 401 as RFC 6750 words it, because seed 000 has no 403."""

    code = ErrorCode.INSUFFICIENT_SCOPE

    def __init__(self, scope: str) -> None:
        challenge = f'Bearer realm="tablewire", error="insufficient_scope", scope="{scope}"'
        super().__init__(f"This API key lacks the scope `{scope}`.", headers={"WWW-Authenticate": challenge})


def needed(view: Any, method: str | None) -> str:
    """The scope that this method of the view needs: reading or writing what its `scope` names."""
    return Scope(f"{view.scope}:{'read' if method in SAFE_METHODS else 'write'}").value


class Scoped(BasePermission):
    """Judges the scope before a record is looked up, so that a refusal says nothing of what is there."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """True, or raise InsufficientScope. What the address does not have is left to become 405."""
        if request.method not in view.allowed_methods:
            return True
        scope = needed(view, request.method)
        if scope not in cast("ApiKey", request.auth).scopes:
            raise InsufficientScope(scope)
        return True

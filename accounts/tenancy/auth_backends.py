"""Sign-in, and the permissions of our staff in the back office."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend

from accounts.tenancy.permissions import get_staff_permissions


class StaffBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """Authenticates users, and returns the permissions of our staff; members of accounts have none."""

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        return set() if user_obj.is_anonymous or obj is not None else set(get_staff_permissions(user_obj))

"""The base library every app stands on; it imports no app and no settings module of ours."""

"""The path of API requests past Django's page middleware: no sessions, messages, CSRF or request signals."""

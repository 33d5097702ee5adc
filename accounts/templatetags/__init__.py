"""Tags of templates for all apps."""

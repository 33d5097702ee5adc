"""The dashboard: what customers see of their account, and the ground that the pages of all apps stand on."""

"""Pages for who is not signed in: what this is, its documentation, and the reference of both APIs."""

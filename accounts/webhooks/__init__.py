"""Webhooks: events on their way to addresses that customers name.

`endpoints` keeps the addresses, `deliveries` claims what is due and stores what came of it, `pump` sends side by side,
`messages` renders and signs, `secrets` keeps the keys, `destinations` decides where a connection may go and opens it,
`retirement` switches off what fails for days, `documents` describes it all in OpenAPI.
"""

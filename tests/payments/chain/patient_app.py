"""The web application, but it waits 7 s for the node: other answers come before that, however busy the machine is."""

from config.wsgi import application as application
from payments.chain import rpc

rpc.RESPONSE_TIMEOUT_S = 7.0

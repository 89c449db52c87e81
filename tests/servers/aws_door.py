"""A door before a server of one of AWS's protocols that does not look at signatures: botocore computes each request's signature again.

    aws_door.py PORT UPSTREAM_PORT SERVICE REGION KEY_ID SECRET TOKEN

A request whose signature, credentials or time is wrong gets the error of AWS; any other goes to 127.0.0.1:UPSTREAM_PORT.
"""

import calendar
import http.client
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from botocore.auth import SIGV4_TIMESTAMP, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

PORT, UPSTREAM, SERVICE, REGION, KEY_ID, SECRET, TOKEN = sys.argv[1:8]
# What a signature has to cover, or somebody on the way could change it.
COVERED = {"host", "x-amz-date", "x-amz-security-token"} | ({"x-amz-target"} if SERVICE == "dynamodb" else set())
SKEW_S = 300


def fault(path, headers, body, host):
    """The name of AWS's error for a request that is not to be let in, or None."""
    words = headers.get("authorization", "")
    if not words.startswith("AWS4-HMAC-SHA256 "):
        return "MissingAuthenticationTokenException"
    parts = dict(part.strip().split("=", 1) for part in words.split(" ", 1)[1].split(","))
    signed, stamp = parts["SignedHeaders"].split(";"), headers.get("x-amz-date", "")
    if not COVERED <= set(signed):
        return "IncompleteSignatureException"
    if parts["Credential"] != f"{KEY_ID}/{stamp[:8]}/{REGION}/{SERVICE}/aws4_request":
        return "UnrecognizedClientException"
    if headers["x-amz-security-token"] != TOKEN:
        return "ExpiredTokenException"
    if abs(calendar.timegm(time.strptime(stamp, SIGV4_TIMESTAMP)) - time.time()) > SKEW_S:
        return "InvalidSignatureException"
    request = AWSRequest("POST", f"http://{host}{path}", data=body, headers={name: headers[name] for name in signed})
    request.context["timestamp"] = stamp
    signer = SigV4Auth(Credentials(KEY_ID, SECRET, TOKEN), SERVICE, REGION)
    expected = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    return None if expected == parts["Signature"] else "InvalidSignatureException"


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        kind = fault(self.path, headers, body, headers.get("host", ""))
        if kind:
            # As the real service does, the message quotes what was sent.
            error = {"__type": f"com.amazon.coral.service#{kind}", "message": f"The canonical string is: {headers}"}
            return self.answer(400, json.dumps(error).encode())
        upstream = http.client.HTTPConnection("127.0.0.1", int(UPSTREAM))
        upstream.request("POST", self.path, body, {name: value for name, value in headers.items() if name != "connection"})
        response = upstream.getresponse()
        self.answer(response.status, response.read())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("content-type", "application/x-amz-json-1.0")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(PORT)), Door).serve_forever()

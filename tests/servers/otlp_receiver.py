"""A collector of traces that takes OTLP over HTTP with JSON, as OpenTelemetry's own definitions read it.

    otlp_receiver.py PORT FILE

Each request is parsed into opentelemetry-proto's ExportTraceServiceRequest, unknown members refused, and its spans are added to FILE, one a line, with the
resource and the header fields that they came with. A request that is no such thing gets 400 and a line with `error`.
"""

import base64
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PORT, FILE = sys.argv[1:3]


def ids_as_protobuf_has_them(value):
    """OTLP writes ids in hexadecimal; protobuf's JSON has bytes in base64."""
    if isinstance(value, list):
        return [ids_as_protobuf_has_them(element) for element in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
    result = {}
    for name, member in value.items():
        if name in ids:
            raw = bytes.fromhex(member)
            assert len(raw) == ids[name] and any(raw), f"{name} is no id: {member}"
            result[name] = base64.b64encode(raw).decode()
        else:
            result[name] = ids_as_protobuf_has_them(member)
    return result


def plain(attributes):
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in attributes}


def spans(request, headers):
    for group in request.resource_spans:
        for scope in group.scope_spans:
            for span in scope.spans:
                yield {
                    "trace": span.trace_id.hex(),
                    "id": span.span_id.hex(),
                    "parent": span.parent_span_id.hex(),
                    "state": span.trace_state,
                    "name": span.name,
                    "kind": span.kind,
                    "start": span.start_time_unix_nano,
                    "end": span.end_time_unix_nano,
                    "attributes": plain(span.attributes),
                    "status": span.status.code,
                    "message": span.status.message,
                    "resource": plain(group.resource.attributes),
                    "headers": headers,
                }


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            assert self.path == "/v1/traces", self.path
            assert self.headers["content-type"] == "application/json", self.headers["content-type"]
            document = json.dumps(ids_as_protobuf_has_them(json.loads(body)))
            request = json_format.Parse(document, ExportTraceServiceRequest())
            lines = list(spans(request, {name.lower(): value for name, value in self.headers.items()}))
            status = 200
        except Exception as error:
            lines, status = [{"error": f"{error!r} in {body!r}"}], 400
        with open(FILE, "a") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines))
        answer = b"{}"
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(PORT)), Receiver).serve_forever()

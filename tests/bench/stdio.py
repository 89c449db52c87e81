#!/usr/bin/env python3
"""CPU time of a call over standard input and output beside one over HTTP: the same binary, the same bundle, the same calls, taking turns.

For each way and number of calls in flight: CPU microseconds a call (user + system of all processes of the server) and resident memory. Compare
rows of one run. `--binary` names another build of `millrace`; the default is the release build.
"""
import argparse, glob, json, os, re, selectors, shutil, socket, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = os.path.join(ROOT, "target", "release", "millrace")
TOOL, ARGUMENTS, EXPECTED = "get-user", {"id": 42}, b"user42@example.com"


def body(number):
    params = {"name": TOOL, "arguments": ARGUMENTS}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def pids(self):
        files = glob.glob(f"/proc/{self.process.pid}/task/*/children")
        return [self.process.pid] + [int(pid) for file in files for pid in open(file).read().split()]

    def cpu_s(self):
        """To the nanosecond, where a counter of clock ticks would be too coarse."""
        stats = [file for pid in self.pids() for file in glob.glob(f"/proc/{pid}/task/*/schedstat")]
        return sum(int(open(file).read().split()[0]) for file in stats) / 1e9

    def rss_mb(self):
        texts = [open(f"/proc/{pid}/status").read() for pid in self.pids()]
        return sum(int(re.search(r"VmRSS:\s+(\d+)", text)[1]) for text in texts) / 1024


class Http(Server):
    name = "HTTP"

    def __init__(self, binary, bundle):
        self.port = free_port()
        command = [binary, "serve", bundle, "--port", str(self.port), "--isolates", "1", "--log", "off"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdout.readline()

    def calls(self, count, in_flight):
        """A connection for each call in flight; each is kept."""
        head = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n"
        head += "mcp-protocol-version: 2025-06-18\r\ncontent-length: "
        select, started, ended = selectors.DefaultSelector(), 0, 0
        for _ in range(in_flight):
            connection = socket.create_connection(("127.0.0.1", self.port))
            select.register(connection, selectors.EVENT_READ, bytearray())

        def send(connection):
            nonlocal started
            if started < count:
                text = body(started)
                connection.sendall(f"{head}{len(text)}\r\n\r\n".encode() + text)
                started += 1

        for key in list(select.get_map().values()):
            send(key.fileobj)
        while ended < count:
            for key, _ in select.select():
                key.data.extend(key.fileobj.recv(65536))
                end = key.data.find(b"\r\n\r\n")
                length = int(re.search(rb"content-length: (\d+)", key.data[:end])[1]) if end >= 0 else None
                if length is not None and len(key.data) >= end + 4 + length:
                    if EXPECTED not in key.data:
                        sys.exit(f"bench: HTTP answered {bytes(key.data)!r}")
                    key.data.clear()
                    ended += 1
                    send(key.fileobj)
        for key in list(select.get_map().values()):
            key.fileobj.close()

    def end(self):
        self.process.terminate()
        self.process.wait()


class Stdio(Server):
    def __init__(self, binary, bundle, *more):
        self.name = " ".join(["stdio", *more])
        command = [binary, "serve", bundle, "--stdio", "--log", "off", *more]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        start = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        self.process.stdin.write(json.dumps(start).encode() + b"\n")
        self.rest = b""
        while not self.lines():
            pass

    def lines(self):
        *lines, self.rest = (self.rest + os.read(self.process.stdout.fileno(), 65536)).split(b"\n")
        return lines

    def calls(self, count, in_flight):
        """Each call is written for itself, as a client does that has no more than one at a time to write."""
        started = min(count, in_flight)
        for number in range(started):
            self.process.stdin.write(body(number) + b"\n")
        ended = 0
        while ended < count:
            for line in self.lines():
                if EXPECTED not in line:
                    sys.exit(f"bench: stdio answered {line!r}")
                ended += 1
                if started < count:
                    self.process.stdin.write(body(started) + b"\n")
                    started += 1

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--binary", default=RELEASE)
    options.add_argument("--calls", type=int, default=5000, help="in each turn")
    options.add_argument("--turns", type=int, default=4)
    options = options.parse_args()
    folder = tempfile.mkdtemp()
    try:
        for name in ["millrace.yaml", "app"]:
            source = os.path.join(ROOT, name)
            (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, os.path.join(folder, name))
        dist = os.path.join(folder, "dist")
        subprocess.run([options.binary, "build", folder, "--target", "local", "--out", dist], check=True, stdout=subprocess.DEVNULL)
        bundle = glob.glob(os.path.join(dist, "*.bundle"))[0]
        # Relative paths of databases start at the bundle's folder. The first call makes the database.
        subprocess.run([options.binary, "call", "--app", folder, "get-user", "id=42"], check=True, stdout=subprocess.DEVNULL)
        shutil.move(bundle, folder)
        bundle = os.path.join(folder, os.path.basename(bundle))
        servers = [Http(options.binary, bundle), Stdio(options.binary, bundle), Stdio(options.binary, bundle, "--threads")]
        for server in servers:
            server.calls(200, 8)
        print(f"{'':16}{'in flight':>10}{'CPU µs/call':>13}{'of HTTP':>9}{'calls/s':>9}{'RSS MB':>8}")
        for in_flight in [1, 64]:
            spent = {server.name: [0.0, 0.0] for server in servers}
            for _ in range(options.turns):
                for server in servers:
                    cpu, began = server.cpu_s(), time.monotonic()
                    server.calls(options.calls, in_flight)
                    spent[server.name][0] += server.cpu_s() - cpu
                    spent[server.name][1] += time.monotonic() - began
            calls = options.calls * options.turns
            for server in servers:
                cpu, elapsed = spent[server.name]
                ratio = cpu / spent["HTTP"][0]
                print(f"{server.name:16}{in_flight:>10}{cpu / calls * 1e6:>13.1f}{ratio:>9.2f}{calls / elapsed:>9.0f}{server.rss_mb():>8.1f}")
        for server in servers:
            server.end()
    finally:
        shutil.rmtree(folder)


main()

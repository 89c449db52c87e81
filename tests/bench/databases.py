#!/usr/bin/env python3
"""CPU time of a call on MariaDB and on Redis beside servers written by hand on `mysql_async` and `redis`: one tool, the same request, the same
rows, the same database, taking turns.

For each server: CPU microseconds a call (user + system of the server's processes, not of the database) and calls a second; then the ratios. Compare rows
of one run. Two servers are written by hand: one with `rmcp`, the SDK that whoever writes an MCP server in Rust uses, and one on axum that answers
this one request and knows nothing else of MCP, which nobody would put into service: the least that a call can cost. All have one thread, as an isolate of
Millrace does. `--binary` names another build of `millrace`; the default is the published one.
"""
import argparse, json, os, shutil, subprocess, sys, tempfile, time

from load import MILLRACE, ROOT, Server, free_port, post

PEER = os.path.join(ROOT, "target", "tools", "peer-databases")
COLUMNS = ["id", "name", "email", "city", "created_at"]
BAR = 1.3


def user(number):
    return [number, f"User {number}", f"user{number}@example.com", "Kraków", "2026-01-02T03:04:05Z"]


class Database:
    """A database server that ends with the `with` block."""

    def __init__(self, folder, port, command, ready):
        self.port = port
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        began = time.monotonic()
        while not ready():
            if self.process.poll() is not None or time.monotonic() - began > 60:
                sys.exit(f"bench: `{command[0]}` does not start")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def said(command, text=None):
    return subprocess.run(command, input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def mysql(folder):
    port, data = free_port(), f"{folder}/data"
    made = ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"]
    subprocess.run([*made, "--user=root"] if os.getuid() == 0 else made, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = "".join(f"INSERT INTO users VALUES {tuple(user(number))};\n" for number in range(1, 1001))
    with open(f"{folder}/init.sql", "w") as file:
        file.write(
            "SET NAMES utf8mb4;\nCREATE USER shop@'127.0.0.1' IDENTIFIED BY 'shop';\nCREATE DATABASE shop CHARACTER SET utf8mb4;\nGRANT ALL ON shop.* TO shop@'127.0.0.1';\nUSE shop;\n"
            "CREATE TABLE users (id bigint PRIMARY KEY, name text NOT NULL, email text NOT NULL, city text NOT NULL, created_at text NOT NULL);\n"
            + rows
        )
    command = ["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={folder}/socket", f"--port={port}", "--bind-address=127.0.0.1"]
    command += [f"--init-file={folder}/init.sql", "--skip-name-resolve"] + (["--user=root"] if os.getuid() == 0 else [])
    asked = ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{port}", "-ushop", "-pshop", "shop", "-e", "SELECT email FROM users WHERE id = 1000"]
    return Database(folder, port, command, lambda: "user1000@" in said(asked)), f"mysql://shop:shop@127.0.0.1:{port}/shop"


def redis(folder):
    port = free_port()
    command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", ""]
    client = ["redis-cli", "-h", "127.0.0.1", "-p", str(port)]
    database = Database(folder, port, command, lambda: "PONG" in said([*client, "ping"]))
    words = lambda number: " ".join(f'{name} "{value}"' for name, value in zip(COLUMNS, user(number)))
    said(client, "".join(f"HSET user:{number} {words(number)}\n" for number in range(1, 1001)))
    return database, f"redis://127.0.0.1:{port}/"


STATEMENTS = {"mysql": f"SELECT {', '.join(COLUMNS)} FROM users WHERE id = {{{{ inputs.id }}}}", "redis": "HGETALL user:{{ inputs.id }}"}


def app(binary, folder, connector, url):
    files = {
        "millrace.yaml": "name: shop\n",
        "app/adapters/shop.yaml": f'connector: {connector}\nconnection_string: "{url}"\n' + ("options: { sslmode: disable }\n" if connector == "mysql" else ""),
        "app/tools/get-user/config.yaml": f"description: Get one user by id.\nuse: shop\nstatement: {STATEMENTS[connector]}\ninputs: {{ id: {{ type: int }} }}\n",
    }
    for name, text in files.items():
        path = f"{folder}/app/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write(text)
    subprocess.run([binary, "build", f"{folder}/app", "--target", "local", "--out", f"{folder}/out"], check=True, stdout=subprocess.DEVNULL)
    return next(f"{folder}/out/{name}" for name in os.listdir(f"{folder}/out") if name.endswith(".bundle"))


def compare(options, connector, start):
    folder = tempfile.mkdtemp()
    try:
        database, url = start(folder)
        with database:
            bundle, call = app(options.binary, folder, connector, url), ("get-user", {"id": 42}, "user42@example.com")
            library = {"mysql": "mysql_async", "redis": "redis"}[connector]
            commands = {
                "millrace": [options.binary, "serve", bundle, "--port", "PORT", "--isolates", "1", "--log", "warn"],
                f"rmcp, {library}": [options.peer, "rmcp", connector, url, "PORT", "1"],
                f"axum, {library}": [options.peer, "axum", connector, url, "PORT", "1"],
            }
            servers = {name: Server(command, *call) for name, command in commands.items()}
            answers = {json.loads(post(server.port, server.request))["result"]["content"][0]["text"] for server in servers.values()}
            if len(answers) != 1:
                sys.exit(f"bench: the servers answer differently: {answers}")
            for server in servers.values():
                server.load(8, 1)
            for connections in (1, 32):
                spent = {name: [0, 0.0, 0.0] for name in servers}
                for _ in range(options.turns):
                    for name, server in servers.items():
                        run = server.load(connections, options.seconds)
                        if run["errors"]:
                            sys.exit(f"bench: {name}: {run['errors']} errors")
                        spent[name][0] += run["requests"]
                        spent[name][1] += run["cpu_us"] * run["requests"]
                        spent[name][2] += run["requests"] / run["per_s"]
                for name, (requests, cpu_us, seconds) in spent.items():
                    print(f"{connector:8} {name:24} {connections:4} {cpu_us / requests:12.1f} {requests / seconds:10.0f}", flush=True)
                own, *others = ((name, cpu_us / requests) for name, (requests, cpu_us, _) in spent.items())
                for name, cpu in others:
                    print(f"{connector}, {connections} connections: {own[1] / cpu:.2f} of the CPU of {name} (bar: {BAR})", flush=True)
            for server in servers.values():
                server.__exit__()
    finally:
        shutil.rmtree(folder)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--binary", default=MILLRACE)
    options.add_argument("--peer", default=PEER)
    options.add_argument("--seconds", type=int, default=4, help="length of one turn")
    options.add_argument("--turns", type=int, default=4)
    options = options.parse_args()
    print(f"{'database':8} {'server':24} {'conn':>4} {'CPU µs/call':>12} {'calls/s':>10}")
    compare(options, "mysql", mysql)
    compare(options, "redis", redis)


if __name__ == "__main__":
    main()

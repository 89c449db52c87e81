"""What is wrong while somebody types, and what editors do wrong."""

import asyncio
import json
import os
import pathlib
import random
import subprocess
import time

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from conftest import FILES, MILLRACE, Editor, end, start, write

LIST = "app/tools/orders/list/config.yaml"
TEST = "app/tools/orders/list/list.test.yaml"


async def test_problems_while_typing(editor):
    editor.open(LIST)
    editor.change(LIST, FILES[LIST].replace("use: main", "use: mian"))
    await editor.until(lambda: any("`mian`" in told for told in editor.told(LIST)))
    found = next(found for found in editor.client.diagnostics[editor.uri(LIST)] if "`mian`" in found.message)
    assert found.severity == lsp.DiagnosticSeverity.Error and found.source == "millrace"
    assert "Did you mean `main`?" in found.message
    assert editor.slice(FILES[LIST].replace("use: main", "use: mian"), found.range) == "mian"
    editor.change(LIST, FILES[LIST])
    await editor.until(lambda: editor.told(LIST) == [])


async def test_problems_are_those_of_check(app):
    write(app, {"app/tools/bad/config.yaml": "description: Bad.\nuse: nothing\nkind: quer\nstatement: SELECT {{ inputs.x }}\n"})
    command = subprocess.run([MILLRACE, "check", "--json", str(app)], capture_output=True, text=True, timeout=300)
    wanted = sorted((found["file"], found["line"], found["message"]) for found in json.loads(command.stdout)["diagnostics"])
    assert len(wanted) >= 3
    client = await start([app])
    editor = Editor(client, app)
    count = lambda: sum(len(found) for found in client.diagnostics.values())
    await editor.until(lambda: count() == len(wanted))
    told = []
    for uri, found in client.diagnostics.items():
        file = editor_path(uri).relative_to(app).as_posix()
        told += [(file, one.range.start.line + 1, one.message.split("\n")[0]) for one in found]
    assert sorted(told) == wanted
    await end(client)


def editor_path(uri: str) -> pathlib.Path:
    from conftest import path_of

    return path_of(uri)


async def test_files_that_are_not_open(editor):
    editor.open("app/adapters/main.yaml")
    editor.change("app/adapters/main.yaml", "name: other\n" + FILES["app/adapters/main.yaml"])
    await editor.until(lambda: any("`main` does not exist" in told for told in editor.told(LIST)))
    editor.close("app/adapters/main.yaml")
    await editor.until(lambda: editor.told(LIST) == [])


@pytest.mark.parametrize("kind", ["visual-studio-code", "neovim", "emacs"])
async def test_what_other_editors_can(app, kind):
    """What an editor does not take, it does not get: the client of pytest-lsp compares that."""
    client = await start([app], kind)
    editor = Editor(client, app)
    assert await editor.labels(LIST, FILES[LIST].replace("use: main", "use: §")) == ["main", "reports"]
    editor.change(LIST, FILES[LIST])
    assert "connector `sqlite`" in await editor.hover(LIST, "use: ma§in")
    at = editor.position(LIST, "ci§ty: { type")
    assert await client.text_document_rename_async(lsp.RenameParams(at.text_document, at.position, "town"))
    await end(client)


async def test_versions(editor):
    editor.open(LIST, FILES[LIST] + "nonsense: 1\n")
    await editor.until(lambda: any("nonsense" in told for told in editor.told(LIST)))
    editor.change(LIST, FILES[LIST])
    await editor.until(lambda: editor.told(LIST) == [])
    versions = [(said.version, len(said.diagnostics)) for method, said in editor.client.said if getattr(said, "uri", "") == editor.uri(LIST)]
    assert versions[-1] == (2, 0) and all(version == 1 for version, problems in versions if problems)


async def test_what_is_broken_loses_nothing(editor):
    await editor.hover(LIST, "use: ma§in")
    editor.open("app/adapters/main.yaml", "connector: [\n")
    await editor.until(lambda: editor.told("app/adapters/main.yaml"))
    editor.change(LIST, FILES[LIST].replace("use: main", "use: main\n  x"))
    await editor.until(lambda: editor.told(LIST))
    assert "main" in await editor.labels("app/tools/orders/new/config.yaml", "description: New.\nuse: §\n")
    assert "orders-list" in await editor.labels("app/tools/orders/other.test.yaml", "tool: §\ntests: []\n")


async def test_a_script_as_it_is_typed(editor):
    handler = "app/tools/orders/total/handler.ts"
    editor.open(handler, FILES[handler].replace('ctx.db("main")', 'ctx.db("mian")'))
    await editor.until(lambda: any("`mian`" in told for told in editor.told(handler)))


async def test_unknown_methods(editor):
    with pytest.raises(JsonRpcException) as caught:
        range = lsp.Range(lsp.Position(0, 0), lsp.Position(1, 0))
        await editor.client.text_document_inlay_hint_async(lsp.InlayHintParams(lsp.TextDocumentIdentifier(editor.uri(LIST)), range))
    assert caught.value.code == -32601
    editor.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings=None))
    editor.client.set_trace(lsp.SetTraceParams(lsp.TraceValue.Off))
    assert await editor.hover(LIST, "use: ma§in")


async def test_files_of_nobody(editor):
    for uri in ["untitled:Untitled-1", "file:///nowhere/at/all.yaml", "no uri at all", editor.uri("notes.yaml")]:
        at = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(5, 5))
        assert await editor.client.text_document_hover_async(at) is None


async def test_columns_of_utf_16(editor):
    text = FILES[LIST].replace("use: main", "use: main # ü").replace("The orders of a city.", "\"Städte 😀\"")
    text = text.replace("WHERE city = {{ inputs.city }}", "WHERE '😀ä' <> city AND city = {{ inputs.ci§ty }}")
    assert await editor.labels(LIST, text) == ["city", "least"]
    clean = text.replace("§", "").replace("{{ inputs.city }} AND", "{{ inputs.cty }} AND")
    editor.change(LIST, clean)
    await editor.until(lambda: any("`cty`" in told for told in editor.told(LIST)))
    found = next(found for found in editor.client.diagnostics[editor.uri(LIST)] if "`cty`" in found.message)
    assert editor.slice(clean, found.range) == "{{ inputs.cty }}"


async def test_line_ends_of_windows(editor):
    text = FILES[LIST].replace("\n", "\r\n")
    assert await editor.labels(LIST, text.replace("{{ inputs.least }}", "{{ inputs.§ }}")) == ["city", "least"]
    assert await editor.labels(LIST, text.replace("use: main", "use: §")) == ["main", "reports"]
    assert "cache" in await editor.labels(LIST, text + "§\r\n")


async def test_changes_in_parts(editor):
    editor.open(LIST)
    _, at = editor.at(LIST, FILES[LIST], "use: §main")
    editor.change(LIST, "mi", lsp.Range(at, lsp.Position(at.line, at.character + 2)))
    await editor.until(lambda: any("`miin`" in told for told in editor.told(LIST)))


async def test_a_file_that_is_deleted_while_it_is_open(app, editor):
    bad = "app/tools/bad/config.yaml"
    write(app, {bad: "description: Bad.\n"})
    editor.open(bad)
    await editor.until(lambda: editor.told(bad))
    (app / bad).unlink()
    change = lsp.FileEvent(editor.uri(bad), lsp.FileChangeType.Deleted)
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))
    await editor.until(lambda: editor.told(bad) == [])
    # Whoever types on means the file to be there again.
    editor.change(bad, "description: Worse.\n")
    await editor.until(lambda: editor.told(bad))


async def test_a_file_that_is_moved_while_it_is_open(app, editor):
    old, new = "app/adapters/main.yaml", "app/adapters/moved.yaml"
    await editor.hover(LIST, "use: ma§in")
    editor.open(old)
    (app / old).rename(app / new)
    editor.close(old)
    editor.open(new)
    await editor.until(lambda: any("`main` does not exist" in told for told in editor.told(LIST)))
    assert await editor.labels(LIST, FILES[LIST].replace("use: main", "use: §")) == ["moved", "reports"]


async def test_two_folders(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, FILES)
    write(two, FILES | {"app/adapters/extra.yaml": FILES["app/adapters/main.yaml"]})
    client = await start([one, two])
    assert await Editor(client, one).labels(LIST, FILES[LIST].replace("use: main", "use: §")) == ["main", "reports"]
    assert await Editor(client, two).labels(LIST, FILES[LIST].replace("use: main", "use: §")) == ["extra", "main", "reports"]
    gone = lsp.WorkspaceFoldersChangeEvent(added=[], removed=[lsp.WorkspaceFolder(one.as_uri(), "one")])
    client.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(gone))
    assert await Editor(client, two).hover(LIST, "use: ma§in")
    await end(client)


async def test_a_folder_without_an_app(tmp_path):
    (tmp_path / "empty").mkdir()
    client = await start([tmp_path / "empty"])
    editor = Editor(client, tmp_path / "empty")
    await editor.until(lambda: client.log_messages)
    editor.open("notes.yaml", "a: 1\n")
    at = lsp.HoverParams(lsp.TextDocumentIdentifier(editor.uri("notes.yaml")), lsp.Position(0, 0))
    assert await client.text_document_hover_async(at) is None
    assert len(client.log_messages) == 1 and "has no `millrace.yaml`" in client.log_messages[0].message and not client.messages
    await end(client)


async def test_cancelled_requests(app):
    """A request that waits for the app is answered at once where it is cancelled."""
    many(app, 1000)
    client = await start([app])
    editor = Editor(client, app)
    editor.open(LIST)
    at = lsp.HoverParams(lsp.TextDocumentIdentifier(editor.uri(LIST)), lsp.Position(1, 6))
    asked = client.protocol.send_request_async("textDocument/hover", at, msg_id="one")
    asked = asyncio.ensure_future(asked)
    await asyncio.sleep(0)
    client.cancel_request(lsp.CancelParams(id="one"))
    with pytest.raises(JsonRpcException) as caught:
        await asked
    assert caught.value.code == -32800
    assert await editor.hover(LIST, "use: ma§in")
    await end(client)


def many(app: pathlib.Path, count: int):
    tool = "description: Tool {}.\nuse: main\nstatement: SELECT id FROM orders WHERE total = {{{{ inputs.total }}}}\ninputs:\n  total: {{ type: int }}\n"
    write(app, {f"app/tools/many/t{number:05}/config.yaml": tool.format(number) for number in range(count)})


async def test_eight_thousand_tools(app):
    """A keystroke is answered in a moment, whatever is looked at meanwhile."""
    many(app, 8000)
    client = await start([app])
    editor = Editor(client, app)
    began = time.monotonic()
    assert await editor.hover(LIST, "use: ma§in")
    first = time.monotonic() - began
    slowest = 0.0
    tool = "app/tools/many/t04000/config.yaml"
    text = editor.read(tool)
    for number in range(20):
        began = time.monotonic()
        labels = await editor.labels(tool, text.replace("use: main", "use: §") + f"# {number}\n")
        slowest = max(slowest, time.monotonic() - began)
        assert labels == ["main", "reports"]
    began = time.monotonic()
    labels = await editor.labels("app/tools/many/x.test.yaml", "tool: t0400§\ntests: []\n")
    names = time.monotonic() - began
    assert "many-t04000" in labels and len(labels) < 100
    editor.change(tool, text.replace("use: main", "use: mian"))
    began = time.monotonic()
    await editor.until(lambda: any("`mian`" in told for told in editor.told(tool)), 300)
    problems = time.monotonic() - began
    status = pathlib.Path(f"/proc/{client._server.pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    memory = next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), "?")
    print(f"8,000 tools: first answer {first:.2f} s, keystroke {slowest * 1000:.0f} ms, names {names * 1000:.0f} ms, problems {problems:.2f} s, {memory} MB")
    await end(client)


PIECES = ["{{", "}}", "{{ inputs.", '"', "'", "\n", "\n  ", ": ", "- ", "#", "|", "[", "]", "{", "}", "é", "😀", "inputs", "use: ", "when: ", "\t", "&a", "*a", "<<: ", "---\n", "null", "\r\n", 'ctx.db("', "."]


@pytest.mark.parametrize("seed", [1, 2])
async def test_whatever_is_typed(app, seed):
    """Every request has an answer that fits the protocol, or a reason; the app is as before once the files are."""
    client = await start([app])
    editor, chance = Editor(client, app), random.Random(seed)
    files = [file for file in FILES if not file.endswith(".sql")]
    texts = {file: editor.open(file) for file in files}
    asked = [
        lambda *at: client.text_document_completion_async(lsp.CompletionParams(*at)),
        lambda *at: client.text_document_hover_async(lsp.HoverParams(*at)),
        lambda *at: client.text_document_definition_async(lsp.DefinitionParams(*at)),
    ]
    answers = 0
    for _ in range(400):
        file = chance.choice(files)
        text = texts[file]
        start_at = chance.randrange(len(text) + 1)
        end_at = min(len(text), start_at + chance.choice([0, 0, 0, 1, 3, 20]))
        texts[file] = FILES[file] if chance.random() < 0.1 else text[:start_at] + chance.choice(PIECES) + text[end_at:]
        editor.change(file, texts[file])
        document = lsp.TextDocumentIdentifier(editor.uri(file))
        at = lsp.Position(chance.randrange(texts[file].count("\n") + 2), chance.randrange(40))
        await chance.choice(asked)(document, at)
        if chance.random() < 0.1:
            try:
                await client.text_document_rename_async(lsp.RenameParams(document, at, "fresh"))
            except JsonRpcException as refused:
                assert refused.code == -32803
        answers += 1
    for file in files:
        editor.change(file, FILES[file])
    await editor.until(lambda: all(not any("not YAML" in told for told in editor.told(file)) for file in files))
    assert await editor.labels(LIST, FILES[LIST].replace("use: main", "use: §")) == ["main", "reports"]
    assert answers == 400
    await end(client)


def speak(*messages, **options) -> subprocess.CompletedProcess:
    """Starts the server, says something, and nothing more."""
    framed = [message if isinstance(message, bytes) else frame(message) for message in messages]
    return subprocess.run([MILLRACE, "lsp"], input=b"".join(framed), capture_output=True, timeout=60, **options)


def frame(message) -> bytes:
    text = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)


INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}


def test_ends():
    shutdown, leave = {"jsonrpc": "2.0", "id": 2, "method": "shutdown"}, {"jsonrpc": "2.0", "method": "exit"}
    assert speak().returncode == 0
    assert speak(INITIALIZE).returncode == 0
    assert speak(INITIALIZE, shutdown, leave).returncode == 0
    assert speak(INITIALIZE, leave).returncode == 1
    assert speak(INITIALIZE, b"Content-Length: 100\r\n\r\n{}").returncode == 0
    assert speak(INITIALIZE, b"nonsense\r\n\r\n").returncode == 1


def test_what_is_no_message():
    done = speak(INITIALIZE, b"Content-Length: 1\r\n\r\n{", frame([1]), {"jsonrpc": "2.0", "id": 2, "method": "shutdown"})
    assert done.returncode == 0 and done.stdout.count(b"-32700") == 2 and b'"id":2' in done.stdout
    assert b"panicked" not in done.stderr


def test_parameters_that_are_missing():
    ask = {"jsonrpc": "2.0", "id": 2, "method": "textDocument/hover", "params": {}}
    assert b"-32602" in speak(INITIALIZE, ask, {"jsonrpc": "2.0", "method": "$/nobodyKnows"}).stdout


def test_order():
    early = {"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": {}}
    assert b"-32002" in speak(early).stdout
    assert b"-32600" in speak(INITIALIZE, INITIALIZE | {"id": 3}).stdout


def test_logs_go_to_standard_error():
    done = speak(INITIALIZE, b"Content-Length: 1\r\n\r\n{", env=os.environ | {"MILLRACE_LOG": "debug"})
    rest = done.stdout
    while rest:
        head, rest = rest.split(b"\r\n\r\n", 1)
        length = int(head.split(b": ")[1])
        json.loads(rest[:length])
        rest = rest[length:]
    assert done.stderr

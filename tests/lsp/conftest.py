"""An app, and an editor that has files of it open: the client of pytest-lsp, which checks what it gets against the protocol."""

import asyncio
import os
import pathlib

import pytest
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

MILLRACE = os.environ["MILLRACE"]
CURSOR = "§"

FILES = {
    "millrace.yaml": """\
name: shop
env: [REGION]
server:
  scopes: { "orders:write": ["orders:read"] }
""",
    "app/adapters/main.yaml": """\
connector: sqlite
connection_string: "sqlite:shop.db"
options: { seed: ./seed.sql }
""",
    "app/adapters/reports.yaml": """\
connector: postgres
connection_string: "{{ env.REPORTS_URL }}"
""",
    "app/adapters/seed.sql": "CREATE TABLE orders (id INTEGER PRIMARY KEY, city TEXT, total INTEGER);\n",
    "app/presenters/order.yaml": """\
schema:
  id: { type: int, description: "The number of the order" }
  city: { type: string, optional: true }
  total: { type: int }
rules:
  - when: item.total > 100
    text: "Order {{ item.id }} is large."
""",
    "app/tools/orders/list/config.yaml": """\
description: The orders of a city.
use: main
statement: |
  SELECT id, city, total FROM orders
  WHERE city = {{ inputs.city }} AND total >= {{ inputs.least }}
inputs:
  city: { type: string, description: "The name of the city" }
  least: { type: int, default: 0 }
returns: order
errors:
  on:
    - when: len(results) == 0 and inputs.city != 'Rome'
      code: NOT_FOUND
      message: "No order in {{ inputs.city }}."
""",
    "app/tools/orders/list/list.test.yaml": """\
tests:
  - name: none
    inputs: { city: Oslo, least: 1 }
    expect: { error: { code: NOT_FOUND } }
""",
    "app/tools/orders/_folder.yaml": "auth: { plugin: ./plugin.ts }\n",
    "app/tools/orders/plugin.ts": "export default () => ({ subject: \"ada\", claims: { tenant: \"a\" } });\n",
    "app/tools/orders/total/config.yaml": """\
description: What the orders of a city come to.
handler: ./handler.ts
inputs:
  city: { type: string, description: "The name of the city" }
  least: { type: int, default: 0 }
""",
    "app/tools/orders/total/handler.ts": """\
import type { Handler } from "millrace";

const total: Handler<"orders-total"> = async ({ inputs }, ctx) => {
  const rows = await ctx.db("main").query<{ total: number }>("SELECT total FROM orders WHERE city = ?1", [inputs.city]);
  return rows.filter((row) => row.total >= Number(inputs.least)).length;
};
export default total;
""",
    "app/prompts/review.yaml": """\
description: A review of the orders of a city.
arguments:
  town: { description: "The city", required: true }
messages:
  - role: user
    text: "Look at the orders of {{ town }}."
  - role: user
    tool: orders-list
    args: { city: "{{ town }}" }
""",
}


def path_of(uri: str) -> pathlib.Path:
    from pygls.uris import to_fs_path

    return pathlib.Path(to_fs_path(uri))


class Editor:
    """An editor: what it has open, and what it was told."""

    def __init__(self, client: LanguageClient, folder: pathlib.Path):
        self.client, self.folder, self.versions = client, folder, {}

    def uri(self, file: str) -> str:
        return (self.folder / file).as_uri()

    def read(self, file: str) -> str:
        return (self.folder / file).read_text(encoding="utf-8")

    def open(self, file: str, text: str | None = None) -> str:
        """Opens a file with its text, or another one."""
        text = self.read(file) if text is None else text
        self.versions[file] = 1
        language = "typescript" if file.endswith(".ts") else "yaml"
        item = lsp.TextDocumentItem(self.uri(file), language, 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return text

    def change(self, file: str, text: str, range: lsp.Range | None = None):
        """Changes a file that is open: all of it, or a range."""
        self.versions[file] += 1
        document = lsp.VersionedTextDocumentIdentifier(version=self.versions[file], uri=self.uri(file))
        change = lsp.TextDocumentContentChangePartial(range, text) if range else lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    def close(self, file: str):
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(self.uri(file))))

    def at(self, file: str, text: str, needle: str | None = None) -> tuple[str, lsp.Position]:
        """A text without its cursor, and the position of that; or the position of a part of the text, or of a `§` in that."""
        if needle is None:
            offset = text.index(CURSOR)
            text = text.replace(CURSOR, "")
        else:
            offset = text.index(needle.replace(CURSOR, "")) + max(needle.find(CURSOR), 0)
        before = text[:offset]
        line = before.count("\n")
        column = len(before.rsplit("\n", 1)[-1].encode("utf-16-le")) // 2
        return text, lsp.Position(line, column)

    async def complete(self, file: str, text: str) -> list[lsp.CompletionItem]:
        text, position = self.at(file, text)
        if file in self.versions:
            self.change(file, text)
        else:
            self.open(file, text)
        found = await self.client.text_document_completion_async(
            lsp.CompletionParams(lsp.TextDocumentIdentifier(self.uri(file)), position)
        )
        return sorted(found.items, key=lambda item: item.sort_text or item.label)

    async def labels(self, file: str, text: str) -> list[str]:
        return [item.label for item in await self.complete(file, text)]

    def position(self, file: str, needle: str) -> lsp.TextDocumentPositionParams:
        """A place in a file that is open as it is on the disk."""
        text = self.read(file)
        if file not in self.versions:
            self.open(file)
        _, position = self.at(file, text, needle)
        return lsp.TextDocumentPositionParams(lsp.TextDocumentIdentifier(self.uri(file)), position)

    async def hover(self, file: str, needle: str) -> str:
        at = self.position(file, needle)
        found = await self.client.text_document_hover_async(lsp.HoverParams(at.text_document, at.position))
        return found.contents.value if found else ""

    async def definition(self, file: str, needle: str) -> tuple[str, str]:
        """The file, and the text at the place that a part of a file leads to."""
        at = self.position(file, needle)
        found = await self.client.text_document_definition_async(lsp.DefinitionParams(at.text_document, at.position))
        if found is None:
            return ("", "")
        target = path_of(found.uri)
        return (target.relative_to(self.folder).as_posix(), self.slice(target.read_text(encoding="utf-8"), found.range))

    def slice(self, text: str, range: lsp.Range) -> str:
        offset = lambda at: self.offset(text, at)
        return text[offset(range.start) : offset(range.end)]

    @staticmethod
    def offset(text: str, position: lsp.Position) -> int:
        lines = text.split("\n")
        before = sum(len(line) + 1 for line in lines[: position.line])
        line = lines[position.line].encode("utf-16-le")
        return before + len(line[: 2 * position.character].decode("utf-16-le"))

    async def rename(self, file: str, needle: str, name: str) -> dict[str, str]:
        """The files that a rename changes, as they are then."""
        at = self.position(file, needle)
        found = await self.client.text_document_rename_async(lsp.RenameParams(at.text_document, at.position, name))
        changed = {}
        for edits in found.document_changes:
            path = path_of(edits.text_document.uri)
            text = path.read_text(encoding="utf-8")
            for edit in sorted(edits.edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
                text = text[: self.offset(text, edit.range.start)] + edit.new_text + text[self.offset(text, edit.range.end) :]
            changed[path.relative_to(self.folder).as_posix()] = text
        return changed

    def told(self, file: str) -> list[str]:
        """What is said to be wrong with a file now."""
        return [found.message for found in self.client.diagnostics.get(self.uri(file), [])]

    async def until(self, condition, seconds: float = 60):
        """Waits for a condition, which is looked at after each thing that the server says."""
        while not condition():
            self.client.heard.clear()
            try:
                await asyncio.wait_for(self.client.heard.wait(), seconds)
            except asyncio.TimeoutError as error:
                raise AssertionError(f"it did not come to that: {self.client.diagnostics} {self.client.log_messages}") from error


def write(folder: pathlib.Path, files: dict[str, str]):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def hear(client: LanguageClient):
    """Keeps what the server says, since several of its notifications may come at once."""
    client.heard, client.said = asyncio.Event(), []
    handle = client.protocol._handle_notification

    def keep(method, params):
        handle(method, params)
        client.said.append((method, params))
        client.heard.set()

    client.protocol._handle_notification = keep


async def start(folders: list[pathlib.Path], kind: str = "visual-studio-code") -> LanguageClient:
    client = make_test_lsp_client()
    hear(client)
    await client.start_io(MILLRACE, "lsp")
    capabilities = client_capabilities(kind)
    named = [lsp.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders]
    await client.initialize_session(lsp.InitializeParams(capabilities, workspace_folders=named))
    return client


async def end(client: LanguageClient):
    server = client._server
    await asyncio.wait_for(client.shutdown_session(), 60)
    assert server.returncode == 0, f"exit code {server.returncode}"
    await client.stop()


@pytest.fixture
def app(tmp_path):
    folder = tmp_path / "shop ä"
    write(folder, FILES)
    return folder


@pytest.fixture
async def editor(app):
    client = await start([app])
    yield Editor(client, app)
    assert client.error is None, client.error
    await end(client)

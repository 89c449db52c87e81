"""What stands at a place, where it is defined, where else it is named."""

import json

from lsprotocol import types as lsp

from conftest import FILES, Editor, end, start, write

LIST = "app/tools/orders/list/config.yaml"
TOTAL = "app/tools/orders/total/config.yaml"
HANDLER = "app/tools/orders/total/handler.ts"


async def test_a_key_with_its_default(editor):
    text = await editor.hover(LIST, "le§ast: { type: int")
    assert text.startswith("**`least`**: int")
    assert "Default: `false`" in await editor.hover("app/presenters/order.yaml", "opt§ional: true")
    assert "required" in await editor.hover("app/adapters/main.yaml", "conn§ector:")


async def test_an_adapter_a_presenter_a_tool(editor):
    assert "connector `sqlite`" in await editor.hover(LIST, "use: ma§in")
    assert "**presenter `order`**" in await editor.hover(LIST, "returns: or§der")
    text = await editor.hover("app/prompts/review.yaml", "tool: orders-§list")
    assert "The orders of a city." in text and "`city`: string" in text
    assert "connector `sqlite`" in await editor.hover(HANDLER, 'ctx.db("ma§in")')


async def test_an_input_in_a_script(editor):
    assert await editor.hover(HANDLER, "[inputs.ci§ty]") == "**`city`**: string of the tool `orders-total`\n\nThe name of the city"


async def test_placeholders_and_expressions(editor):
    text = await editor.hover(LIST, "total >= {{ inputs.le§ast")
    assert text == "**`inputs.least`**: int = 0"
    assert "The name of the city" in await editor.hover(LIST, "and inputs.ci§ty")
    assert "number" in await editor.hover("app/presenters/order.yaml", "item.to§tal")


async def test_what_a_statement_returns(app):
    column = {"name": "id", "type": "INTEGER", "kind": "integer"}
    lock = {"version": 1, "tools": {"orders-list": {"statement": "00", "columns": [column]}}}
    write(app, {"millrace.lock": json.dumps(lock)})
    client = await start([app])
    editor = Editor(client, app)
    assert "`id`: INTEGER" in await editor.hover(LIST, "state§ment: |")
    await end(client)


async def test_nothing_where_nothing_stands(editor):
    assert await editor.hover(LIST, "SEL§ECT") == ""
    assert await editor.definition(LIST, "SEL§ECT") == ("", "")


async def test_from_a_name_to_its_file(editor):
    assert await editor.definition(LIST, "use: ma§in") == ("app/adapters/main.yaml", "")
    assert await editor.definition(LIST, "returns: or§der") == ("app/presenters/order.yaml", "")
    assert (await editor.definition("app/prompts/review.yaml", "tool: orders-§list"))[0] == LIST


async def test_from_a_placeholder_to_the_input(editor):
    assert await editor.definition(LIST, "city = {{ inputs.ci§ty") == (LIST, "city")
    assert await editor.definition(LIST, "and inputs.ci§ty") == (LIST, "city")
    assert await editor.definition("app/presenters/order.yaml", "item.to§tal") == ("app/presenters/order.yaml", "total")
    assert await editor.definition("app/prompts/review.yaml", "of {{ to§wn") == ("app/prompts/review.yaml", "town")


async def test_from_arguments_to_the_input(editor):
    assert await editor.definition("app/tools/orders/list/list.test.yaml", "{ ci§ty: Oslo") == (LIST, "city")
    assert await editor.definition("app/prompts/review.yaml", "{ ci§ty:") == (LIST, "city")


async def test_to_scripts(editor):
    assert (await editor.definition(TOTAL, "./hand§ler.ts"))[0] == HANDLER
    assert (await editor.definition("app/tools/orders/_folder.yaml", "./plu§gin.ts"))[0] == "app/tools/orders/plugin.ts"


async def test_from_scripts(editor):
    assert await editor.definition(HANDLER, 'ctx.db("ma§in")') == ("app/adapters/main.yaml", "")
    assert await editor.definition(HANDLER, "inputs.le§ast") == (TOTAL, "least")


async def test_references(editor):
    async def of(file, needle):
        at = editor.position(file, needle)
        context = lsp.ReferenceContext(include_declaration=True)
        params = lsp.ReferenceParams(context, at.text_document, at.position)
        found = await editor.client.text_document_references_async(params)
        return sorted({place.uri.rsplit("/app/", 1)[1] for place in found})

    assert await of(LIST, "use: ma§in") == ["adapters/main.yaml", "tools/orders/list/config.yaml", "tools/orders/total/handler.ts"]
    assert await of("app/prompts/review.yaml", "tool: orders-§list") == ["prompts/review.yaml", "tools/orders/list/config.yaml"]
    assert await of(LIST, "ci§ty: { type") == ["prompts/review.yaml", "tools/orders/list/config.yaml", "tools/orders/list/list.test.yaml"]


async def test_symbols(editor):
    editor.open(LIST)
    params = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(editor.uri(LIST)))
    found = await editor.client.text_document_document_symbol_async(params)
    inputs = next(symbol for symbol in found if symbol.name == "inputs")
    assert [(part.name, part.detail) for part in inputs.children] == [("city", "string"), ("least", "int")]
    assert editor.slice(FILES[LIST], inputs.selection_range) == "inputs"

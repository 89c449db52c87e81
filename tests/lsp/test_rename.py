"""An input gets another name, everywhere or not at all. `millrace check` and the tests of the app say whether that was everywhere."""

import os
import subprocess

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from conftest import FILES, Editor, end, start, write

LIST = "app/tools/orders/list/config.yaml"
TOTAL = "app/tools/orders/total/config.yaml"
HANDLER = "app/tools/orders/total/handler.ts"
FOLDER = "app/tools/orders/_folder.yaml"


async def refused(editor, file, needle, name) -> str:
    with pytest.raises(JsonRpcException) as caught:
        await editor.rename(file, needle, name)
    return str(caught.value)


def checked(app, *arguments):
    command = subprocess.run([os.environ["MILLRACE"], *arguments, str(app)], capture_output=True, text=True, timeout=300)
    return command.returncode, command.stdout + command.stderr


async def test_everywhere(app, editor):
    changed = await editor.rename(LIST, "ci§ty: { type", "town")
    assert sorted(changed) == ["app/prompts/review.yaml", LIST, "app/tools/orders/list/list.test.yaml"]
    assert "{{ inputs.town }} AND" in changed[LIST] and "  town: { type: string" in changed[LIST]
    assert "inputs.town != 'Rome'" in changed[LIST] and "No order in {{ inputs.town }}." in changed[LIST]
    assert "SELECT id, city, total" in changed[LIST], "a column is no input"
    assert "{ town: Oslo, least: 1 }" in changed["app/tools/orders/list/list.test.yaml"]
    assert 'args: { town: "{{ town }}" }' in changed["app/prompts/review.yaml"]
    before = checked(app, "check")
    write(app, changed)
    assert before[0] == 0 and checked(app, "check") == before, "the app is as good as before"
    assert checked(app, "test")[0] == 0, "its tests pass"
    write(app, {LIST: FILES[LIST]})
    assert checked(app, "check")[0] == 1, "half a rename would be seen"


async def test_from_a_placeholder_and_from_a_test(editor):
    whole = await editor.rename(LIST, "ci§ty: { type", "town")
    assert await editor.rename(LIST, "city = {{ inputs.ci§ty", "town") == whole
    assert await editor.rename("app/tools/orders/list/list.test.yaml", "{ ci§ty: Oslo", "town") == whole


async def test_in_the_handler(editor):
    changed = await editor.rename(TOTAL, "le§ast: {", "minimum")
    assert sorted(changed) == [TOTAL, HANDLER]
    assert "Number(inputs.minimum)" in changed[HANDLER] and "  minimum: { type: int" in changed[TOTAL]
    assert await editor.rename(HANDLER, "inputs.le§ast", "minimum") == changed


async def test_a_variable_that_is_taken_from_the_inputs(app):
    text = FILES[HANDLER].replace("async ({ inputs }, ctx)", "async ({ inputs: { city, least } }, ctx)")
    write(app, {HANDLER: text.replace("inputs.city", "city").replace("inputs.least", "least")})
    client = await start([app])
    changed = await Editor(client, app).rename(TOTAL, "le§ast: {", "minimum")
    assert "{ city, minimum: least }" in changed[HANDLER] and "Number(least)" in changed[HANDLER]
    await end(client)


@pytest.mark.parametrize(
    "file, old, new, reason",
    [
        (HANDLER, "Number(inputs.least)", "Number(Object.values(inputs)[0])", "is passed on as a whole"),
        (HANDLER, "Number(inputs.least)", 'Number(inputs[ctx.env.REGION])', "is passed on as a whole"),
        (FOLDER, "auth:", 'middleware:\n  - require: { when: "inputs.least >= 0" }\nauth:', "holds for other tools"),
        (TOTAL, "inputs:", "mappers: { input: ../map.ts }\ninputs:", "map.ts:1:"),
    ],
)
async def test_refused_where_it_is_not_certain(app, file, old, new, reason):
    map = "export default ({ inputs }: any) => ({ ...inputs, least: 1 });\n"
    write(app, {file: FILES[file].replace(old, new), "app/tools/orders/map.ts": map})
    client = await start([app])
    told = await refused(Editor(client, app), TOTAL, "le§ast: {", "minimum")
    assert reason in told and "`least` is not renamed" in told
    await end(client)


async def test_refused_names(editor):
    assert "has an input `least` already" in await refused(editor, LIST, "ci§ty: { type", "least")
    assert "not a valid name" in await refused(editor, LIST, "ci§ty: { type", "the town")
    assert "without `-`" in await refused(editor, TOTAL, "le§ast: {", "at-least")
    assert "Only an input" in await refused(editor, LIST, "use: ma§in", "other")


async def test_an_argument_that_is_passed_without_saying_so(app):
    review = FILES["app/prompts/review.yaml"].replace("town", "city").replace('    args: { city: "{{ city }}" }\n', "")
    write(app, {"app/prompts/review.yaml": review})
    client = await start([app])
    told = await refused(Editor(client, app), LIST, "ci§ty: { type", "town")
    assert "app/prompts/review.yaml:" in told and "under `args` first" in told
    await end(client)


async def test_a_file_that_never_was_yaml(app):
    write(app, {"app/prompts/new.yaml": "description: [\n"})
    client = await start([app])
    assert "`app/prompts/new.yaml` is not YAML" in await refused(Editor(client, app), LIST, "ci§ty: { type", "town")
    await end(client)


async def test_a_test_that_is_no_yaml(app):
    client = await start([app])
    editor = Editor(client, app)
    await editor.hover(LIST, "use: ma§in")
    editor.open("app/tools/orders/list/list.test.yaml", "tests:\n  - name: [\n")
    assert "is not YAML" in await refused(editor, LIST, "ci§ty: { type", "town")
    await end(client)


async def test_what_is_asked_before(editor):
    at = editor.position(LIST, "city = {{ inputs.ci§ty")
    found = await editor.client.text_document_prepare_rename_async(lsp.PrepareRenameParams(at.text_document, at.position))
    assert found.placeholder == "city" and editor.slice(FILES[LIST], found.range) == "city"

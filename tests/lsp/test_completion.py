"""What is completed."""

from conftest import FILES

LIST = "app/tools/orders/list/config.yaml"
NEW = "app/tools/orders/new/config.yaml"
TEST = "app/tools/orders/list/list.test.yaml"


async def test_adapters_with_their_connectors(editor):
    found = await editor.complete(LIST, FILES[LIST].replace("use: main", "use: §"))
    assert [(item.label, item.detail) for item in found] == [("main", "sqlite"), ("reports", "postgres")]
    assert found[0].text_edit.new_text == "main"


async def test_a_word_is_replaced_as_a_whole(editor):
    text = FILES[LIST].replace("use: main", "use: ma§in")
    found = await editor.complete(LIST, text)
    clean = text.replace("§", "")
    assert {editor.slice(clean, item.text_edit.range) for item in found} == {"main"}


async def test_presenters(editor):
    assert await editor.labels(LIST, FILES[LIST].replace("returns: order", "returns: o§")) == ["order"]


async def test_keys_that_are_not_there_yet(editor):
    found = await editor.complete(LIST, FILES[LIST] + "§\n")
    labels = [item.label for item in found]
    assert "cache" in labels and "confirm" in labels and "description" not in labels and "use" not in labels
    confirm = next(item for item in found if item.label == "confirm")
    assert confirm.text_edit.new_text == "confirm: " and "asked before" in confirm.documentation.value


async def test_required_keys_come_first(editor):
    found = await editor.complete(LIST, FILES[LIST].replace("  least: { type: int, default: 0 }", "  least:\n    §"))
    assert found[0].label == "type" and found[0].detail.startswith("required") and len(found) > 8


async def test_keys_within_a_line(editor):
    labels = await editor.labels(LIST, FILES[LIST].replace("{ type: int, default: 0 }", "{ type: int, d§ }"))
    assert "default" in labels and "description" in labels and "type" not in labels


async def test_keys_of_a_list_of_maps(editor):
    labels = await editor.labels(LIST, FILES[LIST].replace("      code: NOT_FOUND\n", "      code: NOT_FOUND\n      §\n"))
    assert "suggestion" in labels and "when" not in labels


async def test_values_of_words(editor):
    labels = await editor.labels(LIST, FILES[LIST].replace("type: int", "type: §"))
    assert labels[:3] == ["string", "int", "float"] and "uuid" in labels


async def test_truth_values(editor):
    assert await editor.labels("app/presenters/order.yaml", FILES["app/presenters/order.yaml"].replace("optional: true", "optional: §")) == ["true", "false"]


async def test_inputs_in_a_statement(editor):
    found = await editor.complete(LIST, FILES[LIST].replace("total >= {{ inputs.least }}", "total >= {{ inputs.§ }}"))
    assert [(item.label, item.detail) for item in found] == [("city", "string"), ("least", "int = 0")]
    assert found[0].documentation.value == "The name of the city"


async def test_a_placeholder_that_is_open(editor):
    found = await editor.complete(LIST, FILES[LIST].replace("total >= {{ inputs.least }}", "total >= {{ inputs.le§"))
    assert [item.text_edit.new_text for item in found if item.label == "least"] == ["least }}"]


async def test_the_first_names_of_placeholders(editor):
    labels = await editor.labels(LIST, FILES[LIST].replace("{{ inputs.least }}", "{{ § }}"))
    assert labels == ["inputs", "env", "ctx", "auth"]


async def test_who_calls_and_what_the_call_knows(editor):
    text = FILES[LIST].replace("{{ inputs.least }}", "{{ auth.§ }}")
    assert "claims" in await editor.labels(LIST, text)
    text = FILES[LIST].replace("{{ inputs.least }}", "{{ ctx.request.§ }}")
    assert "peer" in await editor.labels(LIST, text)


async def test_variables(editor):
    labels = await editor.labels(LIST, FILES[LIST].replace("{{ inputs.least }}", "{{ env.§ }}"))
    assert labels == ["REGION", "REPORTS_URL"]
    connection = "app/adapters/reports.yaml"
    assert await editor.labels(connection, FILES[connection].replace("env.REPORTS_URL", "§")) == ["env", "secret", "auth"]


async def test_no_placeholders_where_none_are_filled_in(editor):
    assert await editor.labels(LIST, FILES[LIST].replace("The orders of a city.", "The orders of {{ § }}.")) == []


async def test_expressions(editor):
    labels = await editor.labels(LIST, FILES[LIST].replace("and inputs.city != 'Rome'", "and inputs.§"))
    assert labels == ["city", "least"]
    labels = await editor.labels(LIST, FILES[LIST].replace("and inputs.city != 'Rome'", "and §"))
    assert labels[:4] == ["results", "inputs", "auth", "ctx"] and "len" in labels


async def test_expressions_of_presenters(editor):
    order = "app/presenters/order.yaml"
    assert await editor.labels(order, FILES[order].replace("item.total > 100", "item.§ > 100")) == ["id", "city", "total"]


async def test_expressions_for_all_tools_of_a_folder(editor):
    text = 'middleware:\n  - require: { when: "inputs.§" }\n'
    assert sorted(await editor.labels("app/tools/orders/_folder.yaml", text)) == ["city", "least"]


async def test_tools_in_tests_and_prompts(editor):
    tools = ["orders-list", "orders-total"]
    assert await editor.labels("app/tools/orders/other.test.yaml", "tool: §\ntests: []\n") == tools
    review = "app/prompts/review.yaml"
    assert await editor.labels(review, FILES[review].replace("tool: orders-list", "tool: or§")) == tools


async def test_the_inputs_of_a_test(editor):
    text = FILES[TEST].replace("{ city: Oslo, least: 1 }", "{ city: Oslo, § }")
    found = await editor.complete(TEST, text)
    assert [(item.label, item.text_edit.new_text) for item in found] == [("least", "least: ")]
    assert await editor.labels(TEST, FILES[TEST].replace("    inputs:", "    given:\n      §\n    inputs:")) == ["main", "reports"]


async def test_the_arguments_of_a_prompt(editor):
    review = "app/prompts/review.yaml"
    assert await editor.labels(review, FILES[review].replace('the orders of {{ town }}', 'the orders of {{ § }}')) == ["town"]
    assert await editor.labels(review, FILES[review].replace('{ city: "{{ town }}" }', "{ § }")) == ["city", "least"]


async def test_scopes(editor):
    labels = await editor.labels(LIST, FILES[LIST] + "middleware:\n  - require_scope: orders:§\n")
    assert labels == ["orders:read", "orders:write"]


async def test_scripts(editor):
    total = "app/tools/orders/total/config.yaml"
    found = await editor.complete(total, FILES[total].replace("./handler.ts", "./§"))
    assert [(item.label, item.text_edit.new_text) for item in found] == [("./handler.ts", "./handler.ts")]
    labels = await editor.labels("app/tools/orders/_folder.yaml", "auth: { plugin: § }\n")
    assert "jwt" in labels and "./plugin.ts" in labels


async def test_connectors_and_their_options(editor):
    main = "app/adapters/main.yaml"
    labels = await editor.labels(main, FILES[main].replace("connector: sqlite", "connector: §"))
    assert "sqlite" in labels and "mongodb" in labels
    assert "max_rows" in await editor.labels(main, FILES[main].replace("{ seed: ./seed.sql }", "{ seed: ./seed.sql, § }"))


async def test_adapters_and_tools_in_scripts(editor):
    handler = "app/tools/orders/total/handler.ts"
    assert await editor.labels(handler, FILES[handler].replace('ctx.db("main")', 'ctx.db("§")')) == ["main", "reports"]
    assert await editor.labels(handler, FILES[handler].replace("  return rows", '  response(rows).suggest("or§", {});\n  return rows')) == ["orders-list", "orders-total"]
    assert await editor.labels(handler, FILES[handler].replace("  return rows", "  §\n  return rows")) == []


async def test_a_new_file(editor):
    labels = await editor.labels(NEW, "§")
    assert "description" in labels and "use" in labels
    assert await editor.labels(NEW, "description: New.\nuse: §") == ["main", "reports"]


async def test_a_file_that_is_broken_elsewhere(editor):
    text = 'description: "a\nuse: [main\nstatement: |\n  SELECT {{ inputs.§ }}\ninputs:\n  id: { type: int }\n'
    assert "use" not in await editor.labels(LIST, text)
    text = "description: New.\ntags: [a, b\ncache:\n  §\n"
    assert "ttl" in await editor.labels(NEW, text)


async def test_nothing_in_comments_and_prose(editor):
    assert await editor.labels(LIST, FILES[LIST].replace("use: main", "use: main # §")) == []
    assert await editor.labels(LIST, FILES[LIST].replace("The orders of a city.", "The orders of §")) == []

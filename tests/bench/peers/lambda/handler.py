"""AWS Labs' MCP handler for Lambda with the same two tools, and the least that a runtime has to do: ask, answer, ask again."""
import http.client
import json
import os
import sqlite3

from awslabs.mcp_lambda_handler import MCPLambdaHandler

mcp = MCPLambdaHandler(name="peer", version="0.1.0")
database = sqlite3.connect(f"file:{os.environ['SHOP_DB']}?mode=ro", uri=True)
database.row_factory = sqlite3.Row


@mcp.tool()
def get_user(id: int) -> str:
    """Get one user by id."""
    rows = database.execute("SELECT id, name, email, city, created_at FROM users WHERE id = ?1", (id,))
    return json.dumps([dict(row) for row in rows])


@mcp.tool()
def total(items: list) -> str:
    """What some items cost together."""
    counts, cents = {}, 0
    for item in items:
        cents += round(item["price"] * 100) * item["quantity"]
        counts[item["name"]] = counts.get(item["name"], 0) + item["quantity"]
    most = max(counts, key=counts.get)
    return json.dumps({"total": cents / 100, "most": most, "names": [name.upper() for name in counts]})


def serve():
    api = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])
    while True:
        api.request("GET", "/2018-06-01/runtime/invocation/next")
        asked = api.getresponse()
        event = json.loads(asked.read())
        answer = json.dumps(mcp.handle_request(event, None))
        api.request("POST", f"/2018-06-01/runtime/invocation/{asked.headers['lambda-runtime-aws-request-id']}/response", answer)
        api.getresponse().read()


serve()

"""`python sign_in.py SERVER ID`: a client that signs in at its first 401 and once more at a 403, and prints what it saw as JSON.

ID: of a client that the authorization server knows.
"""
import asyncio
import json
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata

REDIRECT = "http://127.0.0.1:9/callback"
METADATA = {
    "redirect_uris": [REDIRECT],
    "grant_types": ["authorization_code"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
}


class Storage:
    def __init__(self, client_id: str) -> None:
        self.tokens = None
        self.client = OAuthClientInformationFull(client_id=client_id, **METADATA)

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens) -> None:
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client) -> None:
        self.client = client


async def main(server: str, client_id: str) -> None:
    asked, address = [], ""

    async def redirect(url: str) -> None:
        nonlocal address
        query = parse_qs(urlsplit(url).query)
        asked.append({name: query.get(name, [None])[0] for name in ["scope", "resource"]})
        address = url

    async def callback() -> AuthorizationCodeResult:
        # What a browser does: follows redirects with its cookies, until it is sent back to the client.
        async with httpx2.AsyncClient() as browser:
            url = address
            for _ in range(20):
                response = await browser.get(url, follow_redirects=False)
                url = str(response.url.join(response.headers["location"]))
                if url.startswith(REDIRECT):
                    query = parse_qs(urlsplit(url).query)
                    found = {name: query.get(name, [None])[0] for name in ["code", "state", "iss"]}
                    return AuthorizationCodeResult(**found)
        raise RuntimeError("the server redirects without end")

    auth = OAuthClientProvider(server, OAuthClientMetadata(**METADATA), Storage(client_id), redirect, callback)
    async with create_mcp_http_client(auth=auth) as http:
        async with Client(streamable_http_client(server, http_client=http)) as client:
            said = []
            for tool in ["notes-read", "notes-publish", "notes-read"]:
                result = await client.call_tool(tool, {})
                said.append(result.content[0].text)
    print(json.dumps({"read": said[0], "published": said[1], "again": said[2], "asked": asked}))


asyncio.run(main(*sys.argv[1:]))

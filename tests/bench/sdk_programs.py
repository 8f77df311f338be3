"""Programs for sdk_clients.py: each lists the tools of `cqm serve` over stdio with one library, and calls `search`.

They get the command, the project and the question as arguments, and print the names of the tools and the reply as JSON.
"""

from typing import NamedTuple


class Sdk(NamedTuple):
    """A library.

    Attributes:
        registry: "pip", "npm" or "go".
        package: of it that the table tells the version of.
        program: what it does between the start and the end of its language's programs.
        others: packages that are wanted too.
    """

    registry: str
    package: str
    program: str
    others: tuple[str, ...] = ()


STARTS = {
    "pip": """\
import asyncio, json, os, sys
COMMAND, PROJECT, QUERY = *sys.argv[1:3], json.loads(sys.argv[3])
ARGUMENTS, ENVIRONMENT = ["serve", "--root", PROJECT], dict(os.environ)
""",
    "npm": """\
const [command, project, query] = [...process.argv.slice(2, 4), JSON.parse(process.argv[4])];
const server = { command, args: ["serve", "--root", project], env: { ...process.env } };
""",
    "go": """\
package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"

""",
}
ENDS = {
    "pip": """
tools, reply = asyncio.run(main())
print(json.dumps({"tools": tools, "reply": reply if isinstance(reply, str) else str(reply)}))
""",
    "npm": """
console.log(JSON.stringify({ tools, reply: typeof reply === "string" ? reply : JSON.stringify(reply) }));
process.exit(0);
""",
    "go": "",
}
SDKS = {
    "mcp": Sdk(
        "pip",
        "mcp",
        """
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

async def main():
    async with Client(StdioServerParameters(command=COMMAND, args=ARGUMENTS, env=ENVIRONMENT)) as client:
        listed = await client.list_tools()
        return [it.name for it in listed.tools], (await client.call_tool("search", QUERY)).content[0].text
""",
    ),
    "mcp 1": Sdk(
        "pip",
        "mcp",
        """
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    server = StdioServerParameters(command=COMMAND, args=ARGUMENTS, env=ENVIRONMENT)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        listed = await session.list_tools()
        return [it.name for it in listed.tools], (await session.call_tool("search", QUERY)).content[0].text
""",
        ("mcp<2",),
    ),
    "fastmcp": Sdk(
        "pip",
        "fastmcp",
        """
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def main():
    async with Client(StdioTransport(command=COMMAND, args=ARGUMENTS, env=ENVIRONMENT)) as client:
        names = [it.name for it in await client.list_tools()]
        return names, (await client.call_tool("search", QUERY)).content[0].text
""",
    ),
    "langchain": Sdk(
        "pip",
        "langchain-mcp-adapters",
        """
from langchain_mcp_adapters.client import MultiServerMCPClient

async def main():
    server = {"transport": "stdio", "command": COMMAND, "args": ARGUMENTS, "env": ENVIRONMENT}
    tools = {it.name: it for it in await MultiServerMCPClient({"cqm": server}).get_tools()}
    return [*tools], await tools["search"].ainvoke(QUERY)
""",
    ),
    "openai-agents": Sdk(
        "pip",
        "openai-agents",
        """
from agents.mcp import MCPServerStdio

async def main():
    server = {"command": COMMAND, "args": ARGUMENTS, "env": ENVIRONMENT}
    async with MCPServerStdio(params=server, client_session_timeout_seconds=120) as session:
        names = [it.name for it in await session.list_tools()]
        return names, (await session.call_tool("search", QUERY)).content[0].text
""",
    ),
    "mcp-use": Sdk(
        "pip",
        "mcp-use",
        """
from mcp_use import MCPClient

async def main():
    server = {"command": COMMAND, "args": ARGUMENTS, "env": ENVIRONMENT}
    client = MCPClient.from_dict({"mcpServers": {"cqm": server}})
    session = await client.create_session("cqm")
    names = [it.name for it in await session.list_tools()]
    reply = await session.call_tool("search", QUERY)
    await client.close_all_sessions()
    return names, reply.content[0].text
""",
    ),
    "llama-index": Sdk(
        "pip",
        "llama-index-tools-mcp",
        """
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

async def main():
    client = BasicMCPClient(COMMAND, args=ARGUMENTS, env=ENVIRONMENT, timeout=120)
    tools = {it.metadata.name: it for it in await McpToolSpec(client=client).to_tool_list_async()}
    return [*tools], str((await tools["search"].acall(**QUERY)).content)
""",
    ),
    "smolagents": Sdk(
        "pip",
        "mcpadapt",
        """
from mcp import StdioServerParameters
from smolagents import ToolCollection

async def main():
    server = StdioServerParameters(command=COMMAND, args=ARGUMENTS, env=ENVIRONMENT)
    with ToolCollection.from_mcp(server, trust_remote_code=True, structured_output=False) as collection:
        tools = {it.name: it for it in collection.tools}
        return [*tools], tools["search"](**QUERY)
""",
        ("smolagents[mcp]", "mcp<2", "websockets"),
    ),
    "typescript": Sdk(
        "npm",
        "@modelcontextprotocol/sdk",
        """
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const client = new Client({ name: "bench", version: "1" });
await client.connect(new StdioClientTransport(server));
const tools = (await client.listTools()).tools.map((it) => it.name);
const reply = (await client.callTool({ name: "search", arguments: query })).content[0].text;
""",
    ),
    "ai-sdk": Sdk(
        "npm",
        "@ai-sdk/mcp",
        """
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
const client = await createMCPClient({ transport: new Experimental_StdioMCPTransport(server) });
const found = await client.tools();
const tools = Object.keys(found);
const reply = await found.search.execute(query, { messages: [], toolCallId: "1" });
""",
        ("ai", "zod"),
    ),
    "langchain.js": Sdk(
        "npm",
        "@langchain/mcp-adapters",
        """
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
const client = new MultiServerMCPClient({ mcpServers: { cqm: { transport: "stdio", ...server } } });
const found = await client.getTools();
const tools = found.map((it) => it.name);
const reply = await found.find((it) => it.name === "search").invoke(query);
""",
        ("@langchain/core",),
    ),
    "go": Sdk(
        "go",
        "github.com/modelcontextprotocol/go-sdk",
        """\
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx, query, names := context.Background(), map[string]any{}, []string{}
	must(json.Unmarshal([]byte(os.Args[3]), &query))
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	command := exec.Command(os.Args[1], "serve", "--root", os.Args[2])
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	must(err)
	listed, err := session.ListTools(ctx, nil)
	must(err)
	for _, it := range listed.Tools {
		names = append(names, it.Name)
	}
	reply, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: query})
	must(err)
	text := reply.Content[0].(*mcp.TextContent).Text
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{"tools": names, "reply": text}))
	session.Close()
}
""",
    ),
}

"""An agent made with the Claude Agent SDK."""

import asyncio
import os

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, TextBlock, query


async def main() -> None:
    """Ask and print."""
    options = ClaudeAgentOptions(permission_mode="bypassPermissions", allowed_tools=["Bash"])
    async for message in query(prompt=os.environ["FLOWPROOF_PROMPT"], options=options):
        if isinstance(message, AssistantMessage):
            print(*(block.text for block in message.content if isinstance(block, TextBlock)))


asyncio.run(main())

"""Messages to a language model, with a fence around what is quoted.

What comes from documents or users stands between fences whose name is drawn for each request, so
that no text can close them, and is declared to be data.
"""

import secrets

Message = dict[str, str]


def fence_line() -> str:
    """Draw what the lines around quoted text begin with."""
    return f"#{secrets.token_hex(8)}"


def messages_of(system: str, user: str) -> list[Message]:
    """Return two messages as the chat completions endpoint takes them."""
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def fenced_messages(instructions: str, text: str) -> list[Message]:
    """Return the messages that ask something about a text that may say anything.

    `{fence}` in the instructions becomes what the lines around the text begin with.
    """
    fence = fence_line()
    return messages_of(instructions.replace("{fence}", fence), f"{fence}\n{text}\n{fence} end")

"""Messages to a language model, with a fence around what is quoted.

Everything that comes from documents or users stands between fences whose name is drawn anew for
each request, so that no text can close them, and is declared to be data.
"""

import secrets

Message = dict[str, str]


def message(role: str, content: str) -> Message:
    """Return a message as the chat completions endpoint takes it."""
    return {"role": role, "content": content}


def fence_line() -> str:
    """Return what the lines around quoted text begin with, drawn anew."""
    return f"#{secrets.token_hex(8)}"


def fenced_messages(instructions: str, text: str) -> list[Message]:
    """Return the messages that ask something about a text that may say anything.

    `{fence}` in the instructions becomes what the lines around the text begin with.
    """
    fence = fence_line()
    return [
        message("system", instructions.replace("{fence}", fence)),
        message("user", f"{fence}\n{text}\n{fence} end"),
    ]

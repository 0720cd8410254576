#!/usr/bin/env bash
# email-reply-parser 0.5.12, `parse_reply` of whole mails that quote nobody and have no signature.
# Expected: all of the text, since nothing of it is a quotation or a signature.
# Seen: a list whose dashes have no space after them is taken for a signature ("-M"), and everything below it is
#   dropped too; so is a paragraph that begins with an option ("--all"). A first line of the form
#   "On ... wrote:", though the writer's own, leaves nothing at all.
# Where it matters: mail archives that are cleaned before they are indexed lose lists and commands.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet email-reply-parser==0.5.12
"$folder/venv/bin/python" - <<'END'
from email_reply_parser import EmailReplyParser

MAILS = {
    "Two dates:\n\n-Monday at ten\n-Tuesday at two\n\nPlease choose.\n": "Two dates:",
    "Run it so:\n\n--all reads everything\n": "Run it so:",
    "On Monday we met, and John of the board wrote:\n\nWe agree.\n": "",
    "Two dates:\n\n- Monday at ten\n- Tuesday at two\n\nPlease choose.\n": (
        "Two dates:\n\n- Monday at ten\n- Tuesday at two\n\nPlease choose."
    ),
}
for mail, seen in MAILS.items():
    reply = EmailReplyParser.parse_reply(mail)
    print(repr(mail), "->", repr(reply))
    assert reply == seen, reply
END

"""Reads e-mail: files, mailboxes, and Outlook's format."""

"""E-mail: files, mailboxes, and Outlook's format."""

"""E-mail, as files and mailboxes, and as Outlook keeps it."""

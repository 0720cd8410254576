"""The HTTP application: endpoints, the checks in front of them, and the server process."""

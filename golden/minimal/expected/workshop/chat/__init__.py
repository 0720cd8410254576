"""Chat: answers to questions, with citations."""

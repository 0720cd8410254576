"""Training of query encoders."""

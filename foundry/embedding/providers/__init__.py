"""The embedding models, and the layer that calls them."""

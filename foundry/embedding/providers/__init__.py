"""The models that embed, and the layer through which each is asked."""

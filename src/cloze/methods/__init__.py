"""Published methods, one TOML file each, and the schema that loads them."""

from cloze.methods.schema import Method, load_method, method_names

__all__ = ["Method", "load_method", "method_names"]

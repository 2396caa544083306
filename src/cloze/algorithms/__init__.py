"""Pure functions from tensors to tensors: advantages, objectives, aggregation.

No I/O, no configuration objects, no trainer, and nothing else of Cloze is imported here. Shape letters: B rows,
T completion tokens. Every function checks the shapes it is given and names its source.
"""

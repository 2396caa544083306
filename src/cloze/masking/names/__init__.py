"""Names in traces: the answer in all its writings (`mentions`), and every other entity (`entities`)."""

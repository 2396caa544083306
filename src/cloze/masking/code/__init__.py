"""Code in traces: fenced, indented, inline or bare, at three levels (`finder` is the way in)."""

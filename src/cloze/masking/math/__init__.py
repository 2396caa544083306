"""Math traces: what of them is a value, in every writing, and what is structure that stays (`finder` is the way in)."""

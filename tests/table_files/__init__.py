"""Files of position tables, and what must come of opening each: a table, one with a note, or a refusal."""

"""What a table of positions is: waves measured first, formulas laid beside, noise told from order."""

"""The faults, the nemesis that plays them, and the planted bugs."""

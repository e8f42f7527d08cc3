"""The oracle: reads what a run left behind and holds it against invariants, independent of what it judges."""

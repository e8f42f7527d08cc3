"""The invariants of the reservation control plane."""

"""The seam to the service under test: how to act on it, what its answers mean, and where its truth lies."""

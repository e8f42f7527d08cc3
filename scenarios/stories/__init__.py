"""The scenarios: one file a story, and nothing else."""

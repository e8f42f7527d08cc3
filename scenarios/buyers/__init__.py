"""The habits of buyers: one file a habit, and nothing else."""

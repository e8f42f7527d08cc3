"""The reference reservation service; knows nothing of the bench."""

"""What is wrong with evidence that cannot be judged at all."""

from __future__ import annotations


class EvidenceError(Exception):
    """The evidence cannot be read as described; says which file, table or column is wrong, and how."""

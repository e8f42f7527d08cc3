"""What a run looked like: latency, timelines, pages and machine-readable summaries.

`write` draws one run's folder, `write_index` the page over all runs. Both load pandas, Matplotlib and Jinja only
when they are called, so that naming this room in a command line's imports costs nothing.
"""

from __future__ import annotations

from reports.publish import warm, write, write_index

__all__ = ["warm", "write", "write_index"]

"""What a run looked like: latency, timelines, pages and machine-readable summaries."""

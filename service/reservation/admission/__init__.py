"""What stands before PostgreSQL and may only advise: bulkhead, Redis semaphore, in-flight suppressor."""

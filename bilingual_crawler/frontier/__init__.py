"""What to fetch next: the scheduler and its backends."""

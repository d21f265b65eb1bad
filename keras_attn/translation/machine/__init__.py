"""Settings for this machine: threads, precision, memory allocator."""

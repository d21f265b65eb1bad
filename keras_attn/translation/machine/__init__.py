"""Settings of this computer: threads, precision, memory allocator."""

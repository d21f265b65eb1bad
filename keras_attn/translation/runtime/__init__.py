"""This computer: threads, precision, memory allocator, output of native code."""

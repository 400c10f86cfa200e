"""Kernels of passes: native code given as text, compiled once and called on the tensors' memory."""

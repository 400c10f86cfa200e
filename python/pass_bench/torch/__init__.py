"""The evaluation of graphs of torch."""

"""The worker process of the referee, by concept: channel, tensors, graphs, captures."""

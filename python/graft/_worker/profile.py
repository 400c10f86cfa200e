"""What a call costs a device beside time: memory and kernel launches; and what the device's memory can move.

Diagnostics: a candidate reports these about itself, so no score is made of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

_COPY_BYTES = {"cpu": 256 << 20, "cuda": 1 << 30}
_COPIES = 7


def one_call(call: Callable[[], Any], device: str) -> dict:
    """{"peak_bytes": above what was allocated before the call, "launches"}; null where the device does not say."""
    if device != "cuda":
        return {"peak_bytes": None, "launches": None}
    call()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    outputs = call()
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated() - before
    del outputs
    return {"peak_bytes": peak, "launches": _launches(call)}


def _launches(call: Callable[[], Any]) -> int | None:
    """Kernels that run on the device during one call, as the profiler of torch sees them."""
    from torch.profiler import ProfilerActivity, profile

    try:
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            call()
            torch.cuda.synchronize()
    except RuntimeError:  # CUPTI is not usable everywhere
        return None
    on_device = [event for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return sum(not event.name.startswith(("Memcpy", "Memset")) for event in on_device) if on_device else None


def copy_bandwidth(device: str) -> float:
    """Bytes read plus bytes written a second, the best of a few copies of a tensor far larger than the last cache."""
    source = torch.ones(_COPY_BYTES[device] // 4, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    best = float("inf")
    for _ in range(_COPIES):
        if device == "cuda":
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            target.copy_(source)
            stop.record()
            torch.cuda.synchronize()
            best = min(best, start.elapsed_time(stop) / 1e3)
        else:
            begin = time.perf_counter()
            target.copy_(source)
            best = min(best, time.perf_counter() - begin)
    return 2 * source.numel() * source.element_size() / best

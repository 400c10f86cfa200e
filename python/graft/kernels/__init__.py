"""Kernels of passes: native code given as text, compiled once and called on the tensors' memory.

import torch, graft

_relu = graft.kernels.cpp(r'''
void relu(const float* x, float* out, int64_t n) {
  #pragma omp parallel for simd
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
''')

def relu(x):
    out = torch.empty_like(x)
    _relu(x, out, x.numel())
    return out
"""

import sys
import weakref

from graft._core import CompileError, Kernel

__all__ = ["CompileError", "Kernel", "compile_all", "cpp"]

_known: "weakref.WeakSet[Kernel]" = weakref.WeakSet()


def cpp(source, function=None, *, flags=(), timeout=120.0):
    """A callable made of C++20 text for the CPU.

    The text defines one function or several. Each parameter is one of

    * ``T*`` or ``const T*``: the memory of a contiguous CPU tensor of that dtype. ``float``, ``double``, ``bool``, the integer
      types, ``graft::half``, ``graft::bfloat16``, ``std::complex<float>``, ``std::complex<double>``; ``uint16_t`` also takes
      the bits of float16 and bfloat16, ``uint8_t`` those of bool, ``void`` any dtype;
    * ``graft::Tensor``: any CPU tensor, with ``data<T>()``, ``ndim``, ``size(i)``, ``stride(i)`` (in elements), ``numel()``;
    * ``bool``, an integer type, ``float`` or ``double``.

    It returns nothing or a number. Static and inline functions, templates and unnamed namespaces are for the text's own use.
    <cmath>, <cstdint>, <cstddef> and <bit> are included already. Arguments are checked against the declaration, lengths
    cannot be: pass them as parameters. The interpreter lock is released during a call, and OpenMP uses torch's threads.

    Compiled with the system's compiler at full optimisation for this processor, at the first call or when ``compile()`` or
    ``compile_all()`` asks, and kept in a cache by text, flags, compiler and processor. The text must stand on its own: files
    it includes are not part of the key. Results keep to IEEE arithmetic (no -ffast-math; ``flags`` can add to the flags).

    function: the one function to offer, where the text defines several; otherwise each is an attribute: ``k.relu(x, out, n)``.
    timeout: seconds the compiler may take.

    Raises ValueError when the text offers no function, at a call TypeError or ValueError for wrong arguments, RuntimeError
    with its what() for a C++ exception, CompileError with the compiler's messages.
    """
    if isinstance(flags, str):
        raise TypeError("flags is a sequence of strings, one a flag")
    file, line = _origin(source, sys._getframe(1))
    kernel = Kernel(source, function or "", list(flags), float(timeout), file, line)
    _known.add(kernel)
    return kernel


def compile_all(kernels=None):
    """Compiles the given kernels (none given: every one alive in this process), several at once.

    Raises the CompileError of the first that fails.
    """
    waiting = [kernel for kernel in (list(_known) if kernels is None else kernels) if not kernel.compiled]
    if len(waiting) < 2:
        for kernel in waiting:
            kernel.compile()
        return
    import os
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(waiting), len(os.sched_getaffinity(0)))) as pool:
        for done in [pool.submit(kernel.compile) for kernel in waiting]:
            done.result()


def _origin(source, frame):
    """The file and line at which the text stands in the calling file, so that messages can name them; ("", 1) if nowhere."""
    path = frame.f_code.co_filename
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(1 << 22)
    except (OSError, ValueError):
        return "", 1
    at = text.find(source)
    if at < 0 or not source.strip() or text.find(source, at + 1) >= 0:
        return "", 1
    return path, text.count("\n", 0, at) + 1

// GRAFT_WIDE before a function: compiled also for AVX2 and chosen at load time, so that its loops run on wide
// vectors where the processor has them. AVX2 brings no fused multiply-add, so results are the same on every
// processor.
#pragma once

// Sanitizers are not ready yet when the choice is made; clang's own vectors are left to its flags.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define GRAFT_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define GRAFT_WIDE
#endif

// GRAFT_EXACT_LOOPS at the top of a file: full vectorisation, and never a product fused into a sum.
#if defined(__GNUC__) && !defined(__clang__)
#define GRAFT_EXACT_LOOPS _Pragma("GCC optimize(\"fp-contract=off\", \"O3\")")
#else
#define GRAFT_EXACT_LOOPS
#endif

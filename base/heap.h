// SPDX-License-Identifier: MIT
// How the process keeps its memory.
#pragma once

#include <malloc.h>
#include <sys/resource.h>

namespace tessera {

/// Freed memory stays with the process for what comes next: plans and images of a whole chip take
/// hundreds of megabytes one after another, and getting each page anew from the system was half of
/// the system's time. For the start of `main`; does nothing where the C library is not glibc.
inline void keep_freed_memory() {
#ifdef __GLIBC__
    constexpr int kPadBytes = 64 << 20; // that the heap grows by, at least
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_TOP_PAD, kPadBytes);
#endif
}

/// For a process that may have only so many addresses: threads share one heap, which grows by little.
/// Others reserve one for each.
inline void spare_addresses() {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TOP_PAD, 1 << 20);
#endif
}

/// Gives back pages in which nothing stands: a plan is made of many small pieces and leaves holes
/// that a run cannot use. Takes milliseconds, and as many to get the pages anew, so that a process
/// that never had much keeps them.
inline void give_back_holes() {
#ifdef __GLIBC__
    constexpr long kMuch = 512L << 10; // KiB
    rusage used{};
    if (getrusage(RUSAGE_SELF, &used) != 0 || used.ru_maxrss > kMuch) {
        malloc_trim(0);
    }
#endif
}

} // namespace tessera

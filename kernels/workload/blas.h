// SPDX-License-Identifier: MIT
// Matrix products of OpenBLAS, which is loaded where the first one is wanted: its threads and its
// hundred megabytes of addresses are no business of a program that computes no reference.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tessera::workload {

class Blas {
public:
    /// Loads the library, once a process; it makes no threads. Contract: no other thread reads or
    /// changes the environment meanwhile. @throws IoError if it cannot be loaded; OutOfHostMemory
    [[nodiscard]] static const Blas& loaded();

    /// Products that may be made at a time: as many as there are addresses for the library's
    /// buffers.
    [[nodiscard]] int most_at_once() const { return most_at_once_; }

    /// What the library takes the processor for; empty if it does not say.
    [[nodiscard]] const std::string& core() const { return core_; }

    /// c[m x n] = a[m x k] * b[k x n], row-major without gaps, on the calling thread.
    void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, const double* b,
                  double* c) const;
    void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b,
                  float* c) const;

private:
    Blas();

    int most_at_once_;
    void* dgemm_;
    void* sgemm_;
    std::string core_;
};

} // namespace tessera::workload

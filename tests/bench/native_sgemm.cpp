// SPDX-License-Identifier: MIT
// The yardstick: a native single-precision matrix product of n x n x n. Prints the best of a few runs in seconds.
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 4096;
    const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
    const int runs = argc > 3 ? std::atoi(argv[3]) : 3;
    openblas_set_num_threads(threads);
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    std::vector<float> a(elements, 0.5F);
    std::vector<float> b(elements, 0.25F);
    std::vector<float> c(elements, 0.0F);
    double best = 1e30;
    for (int run = 0; run < runs; ++run) {
        const auto start = std::chrono::steady_clock::now();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0F, a.data(), n, b.data(),
                    n, 0.0F, c.data(), n);
        best = std::min(
            best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf("%.6f\n", best);
    return c.back() == 0.125F * static_cast<float>(n) ? 0 : 1;
}

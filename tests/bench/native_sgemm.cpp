// SPDX-License-Identifier: MIT
// The yardstick: a native single-precision matrix product. Prints the best of a few runs in seconds
// of the clock, and the best in seconds of processor time.
//
// usage: bench_native_sgemm M K N THREADS RUNS
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 6) {
        std::fputs("usage: bench_native_sgemm M K N THREADS RUNS\n", stderr);
        return 2;
    }
    const int m = std::atoi(argv[1]);
    const int k = std::atoi(argv[2]);
    const int n = std::atoi(argv[3]);
    const int runs = std::atoi(argv[5]);
    openblas_set_num_threads(std::atoi(argv[4]));
    const auto elements = [](int rows, int columns) {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    };
    std::vector<float> a(elements(m, k), 0.5F);
    std::vector<float> b(elements(k, n), 0.25F);
    std::vector<float> c(elements(m, n), 0.0F);
    double best = 1e30;
    double best_processor = 1e30;
    for (int run = 0; run < runs; ++run) {
        const auto start = std::chrono::steady_clock::now();
        const std::clock_t begin = std::clock();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, a.data(), k, b.data(),
                    n, 0.0F, c.data(), n);
        best = std::min(
            best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        best_processor = std::min(best_processor, static_cast<double>(std::clock() - begin) /
                                                      static_cast<double>(CLOCKS_PER_SEC));
    }
    std::printf("%.6f %.6f\n", best, best_processor);
    return c.back() == 0.125F * static_cast<float>(k) ? 0 : 1;
}

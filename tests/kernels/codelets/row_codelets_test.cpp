// SPDX-License-Identifier: MIT
#include "kernels/codelets/block_norms_cost.h"
#include "kernels/codelets/reduce_rows_cost.h"
#include "kernels/codelets/softmax_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace tessera;

constexpr std::size_t kGuards = 4; ///< words in front of the results and behind them
constexpr Address kGuardBytes = 16;
constexpr std::uint32_t kGuard = 0x7e5a7e5a;

/// A matrix in a tile, a NaN wherever it has no element.
struct Matrix {
    ElementType type = ElementType::F16;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::uint32_t step = 0;
    Address at = 0;

    [[nodiscard]] static float element(std::size_t row, std::size_t column) {
        return test::small_integer(row * 131 + column, 8) / 2;
    }
    void put(test::CodeletBench& bench) const {
        bench.put(at - 16, std::vector<std::uint32_t>(8 + rows * step / 4, kGuard));
        for (std::size_t row = 0; row < rows; ++row) {
            const Address to = at + static_cast<Address>(row * step);
            std::vector<std::uint16_t> halves;
            std::vector<float> singles;
            for (std::size_t column = 0; column < columns; ++column) {
                singles.push_back(element(row, column));
                halves.push_back(f32_to_f16(singles.back()));
            }
            if (type == ElementType::F16) {
                bench.put(to, halves);
            } else {
                bench.put(to, singles);
            }
        }
    }
};

double read(test::CodeletBench& bench, ElementType type, Address at, std::size_t index) {
    const auto offset = static_cast<Address>(index * static_cast<std::size_t>(bytes_of(type)));
    return type == ElementType::F16
               ? static_cast<double>(f16_to_f32(bench.get<std::uint16_t>(at + offset, 1)[0]))
               : static_cast<double>(bench.get<float>(at + offset, 1)[0]);
}

/// Rows of each worker that takes `unit` together, one after the other.
std::vector<std::size_t> dealt(std::size_t rows, std::size_t workers, std::size_t unit) {
    std::vector<std::size_t> own(workers);
    for (std::size_t row = 0; row < rows; ++row) {
        ++own[row / unit % workers];
    }
    return own;
}

void put_guards(test::CodeletBench& bench, Address out, std::size_t bytes) {
    bench.put(out - kGuardBytes, std::vector<std::uint32_t>(2 * kGuards + bytes / 4, kGuard));
}
void check_guards(test::CodeletBench& bench, Address out, std::size_t bytes) {
    const std::vector<std::uint32_t> guards(kGuards, kGuard);
    CHECK(bench.get<std::uint32_t>(out - kGuardBytes, kGuards) == guards);
    CHECK(bench.get<std::uint32_t>(out + static_cast<Address>(bytes), kGuards) == guards);
}

const std::vector<ElementType> kTypes{ElementType::F16, ElementType::F32};
const std::vector<std::size_t> kRows{0, 1, 2, 3, 7, 12, 13};
const std::vector<std::size_t> kColumns{1, 2, 3, 4, 5, 6, 7, 8, 33};

/// Calls `visit(bench, x)` for matrices of many shapes on tiles with one to eight workers.
void for_matrices(ElementType type, const std::string& source,
                  const std::function<void(test::CodeletBench&, const Matrix&)>& visit) {
    for (const std::int64_t workers : {1, 2, 3, 4, 5, 6, 8}) {
        test::CodeletBench bench({source}, workers);
        for (const std::size_t rows : kRows) {
            for (const std::size_t columns : kColumns) {
                CAPTURE(name_of(type), workers, rows, columns);
                const auto bytes = columns * static_cast<std::size_t>(bytes_of(type));
                const Matrix x{type, rows, columns,
                               static_cast<std::uint32_t>((bytes + 7) / 8 * 8 + rows % 3 * 8),
                               bench.pair(0) + 16};
                x.put(bench);
                visit(bench, x);
            }
        }
    }
}

/// Elements of `out` that are not those of the softmax of x, and padding that is not 0.
std::size_t wrong_softmaxes(test::CodeletBench& bench, const Matrix& x, Address out,
                            std::size_t step) {
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < x.rows; ++row) {
        double sum = 0;
        for (std::size_t column = 0; column < x.columns; ++column) {
            sum += std::exp(static_cast<double>(Matrix::element(row, column)));
        }
        const Address at = out + static_cast<Address>(row * step);
        for (std::size_t column = 0; column < x.columns; ++column) {
            const double expected =
                std::exp(static_cast<double>(Matrix::element(row, column))) / sum;
            const double got = read(bench, x.type, at, column);
            wrong += std::fabs(got - expected) > 1e-3 * expected + 1e-7 ? 1 : 0;
        }
        for (std::size_t column = x.columns;
             column < step / static_cast<std::size_t>(bytes_of(x.type)); ++column) {
            wrong += read(bench, x.type, at, column) != 0 ? 1 : 0; // padding
        }
    }
    return wrong;
}

} // namespace

TEST_CASE("a softmax's workers make rows that add up to one, in the predicted cycles",
          "[kernels]") {
    for (const ElementType type : kTypes) {
        const std::string name = type == ElementType::F16 ? "softmax_f16" : "softmax_f32";
        for_matrices(type, name, [&](test::CodeletBench& bench, const Matrix& x) {
            const auto workers = static_cast<std::size_t>(bench.machine().tile.workers);
            const auto element = static_cast<std::size_t>(bytes_of(type));
            const std::size_t step = (x.columns * element + 7) / 8 * 8;
            const Address out = bench.pair(2) + 16;
            const Address room = bench.pair(4) + 16;
            const std::size_t room_bytes = (x.columns + 1) / 2 * 8;
            put_guards(bench, out, x.rows * step);
            put_guards(bench, room, workers * room_bytes);
            bench.put<std::uint32_t>(bench.region0_data(),
                                     {x.at, out, x.step, static_cast<std::uint32_t>(step),
                                      static_cast<std::uint32_t>(x.rows),
                                      static_cast<std::uint32_t>(x.columns), room,
                                      static_cast<std::uint32_t>(room_bytes)});
            const auto outcome =
                bench.call(name, program::VertexKind::MultiWorker, bench.region0_data());
            CHECK(wrong_softmaxes(bench, x, out, step) == 0);
            check_guards(bench, out, x.rows * step);
            check_guards(bench, room, workers * room_bytes);
            std::vector<std::int64_t> issues;
            for (const std::size_t own : dealt(x.rows, workers, 1)) {
                issues.push_back(codelets::softmax_issues(type, static_cast<std::int64_t>(own),
                                                          static_cast<std::int64_t>(x.columns)));
            }
            CHECK(outcome.cycles == plan::multi_worker_cycles(bench.machine(), issues));
        });
    }
}

TEST_CASE("a softmax's workers share rows in the predicted cycles", "[kernels]") {
    for (const ElementType type : kTypes) {
        const std::string suffix = type == ElementType::F16 ? "f16" : "f32";
        for_matrices(
            type, "softmax_split_" + suffix, [&](test::CodeletBench& bench, const Matrix& x) {
                const auto workers = static_cast<std::size_t>(bench.machine().tile.workers);
                const std::size_t pairs = x.columns / 2;
                if (x.rows == 0 || pairs < workers) {
                    return;
                }
                const bool half = type == ElementType::F16;
                const auto element = static_cast<std::size_t>(bytes_of(type));
                const std::size_t step = (x.columns * element + 7) / 8 * 8;
                const std::size_t all_pairs = (x.columns + 1) / 2;
                const std::size_t power_step = half ? all_pairs * 8 : step;
                const Address out = bench.pair(2) + 16;
                const Address powers = half ? bench.pair(4) + 16 : out;
                const Address partials = bench.pair(6) + 16;
                put_guards(bench, out, x.rows * step);
                put_guards(bench, powers, x.rows * power_step);
                put_guards(bench, partials, x.rows * workers * 8);
                const auto rows = static_cast<std::uint32_t>(x.rows);
                const auto word = [](std::size_t value) {
                    return static_cast<std::uint32_t>(value);
                };
                const std::size_t odd_worker = x.columns % 2 != 0 ? pairs % workers : workers;
                const std::size_t pad_worker = all_pairs % 2 != 0 ? all_pairs % workers : workers;
                constexpr std::uint32_t kLeast = 0xff7fffff;
                bench.put<std::uint32_t>(bench.region0_data(),
                                         {rows - 1, x.at, x.step, powers, word(power_step),
                                          word(pairs / workers), word(pairs % workers),
                                          word(odd_worker), partials, word(x.columns - 1), kLeast});
                const auto parts =
                    bench.call("softmax_parts_" + suffix, program::VertexKind::MultiWorker,
                               bench.region0_data());
                bench.put<std::uint32_t>(bench.region0_data(),
                                         {rows - 1, out, word(step), powers, word(power_step),
                                          word(all_pairs / workers), word(all_pairs % workers),
                                          word(pad_worker), partials, word(workers), 0});
                const auto join =
                    bench.call("softmax_join_" + suffix, program::VertexKind::MultiWorker,
                               bench.region0_data());
                CHECK(wrong_softmaxes(bench, x, out, step) == 0);
                check_guards(bench, out, x.rows * step);
                check_guards(bench, powers, x.rows * power_step);
                check_guards(bench, partials, x.rows * workers * 8);
                std::vector<std::int64_t> parts_issues;
                std::vector<std::int64_t> join_issues;
                const auto own_pairs = dealt(pairs, workers, 1);
                const auto own_of_all = dealt(all_pairs, workers, 1);
                for (std::size_t w = 0; w < workers; ++w) {
                    parts_issues.push_back(codelets::softmax_parts_issues(
                        type, rows, static_cast<std::int64_t>(own_pairs[w]), w == odd_worker));
                    join_issues.push_back(codelets::softmax_join_issues(
                        type, static_cast<std::int64_t>(workers), rows,
                        static_cast<std::int64_t>(own_of_all[w]), w == pad_worker));
                }
                CHECK(parts.cycles == plan::multi_worker_cycles(bench.machine(), parts_issues));
                CHECK(join.cycles == plan::multi_worker_cycles(bench.machine(), join_issues));
            });
    }
}

TEST_CASE("reductions of rows give one element a row in the predicted cycles", "[kernels]") {
    for (const ElementType type : kTypes) {
        for (const bool is_sum : {true, false}) {
            const std::string source =
                type == ElementType::F16 ? "reduce_rows_f16" : "reduce_rows_f32";
            const std::string symbol = std::string("reduce_rows_") + (is_sum ? "sum" : "max") +
                                       (type == ElementType::F16 ? "_f16" : "_f32");
            for_matrices(type, source, [&](test::CodeletBench& bench, const Matrix& x) {
                const auto element = static_cast<std::size_t>(bytes_of(type));
                const std::size_t bytes = (x.rows * element + 3) / 4 * 4;
                const Address out = bench.pair(2) + 20;
                put_guards(bench, out, bytes);
                bench.put<std::uint32_t>(bench.region0_data(),
                                         {x.at, out, x.step, static_cast<std::uint32_t>(x.rows),
                                          static_cast<std::uint32_t>(x.columns)});
                const auto outcome =
                    bench.call(symbol, program::VertexKind::MultiWorker, bench.region0_data());
                std::size_t wrong = 0;
                for (std::size_t row = 0; row < x.rows; ++row) {
                    double sum = 0;
                    double largest = -1e30;
                    for (std::size_t column = 0; column < x.columns; ++column) {
                        const auto value = static_cast<double>(Matrix::element(row, column));
                        sum += value;
                        largest = std::max(largest, value);
                    }
                    wrong += read(bench, type, out, row) == (is_sum ? sum : largest) ? 0 : 1;
                }
                CHECK(wrong == 0);
                check_guards(bench, out, bytes);
                const auto workers = static_cast<std::size_t>(bench.machine().tile.workers);
                std::vector<std::int64_t> issues;
                for (const std::size_t own :
                     dealt(x.rows, workers,
                           static_cast<std::size_t>(codelets::reduce_rows_unit(type)))) {
                    issues.push_back(codelets::reduce_rows_issues(
                        is_sum ? codelets::RowReduction::Sum : codelets::RowReduction::Max, type,
                        static_cast<std::int64_t>(own), static_cast<std::int64_t>(x.columns)));
                }
                CHECK(outcome.cycles == plan::multi_worker_cycles(bench.machine(), issues));
            });
        }
    }
}

TEST_CASE("norms of blocks are sums of magnitudes, in the predicted cycles", "[kernels]") {
    for (const ElementType type : kTypes) {
        const std::size_t lanes = type == ElementType::F16 ? 4 : 2; // of a unit
        for (const std::int64_t workers : {1, 2, 3, 6, 8}) {
            test::CodeletBench bench({"block_norms"}, workers);
            for (const std::size_t blocks : kRows) {
                for (const std::size_t units : {1U, 4U, 32U}) {
                    CAPTURE(name_of(type), workers, blocks, units);
                    const Matrix x{type, blocks, units * lanes,
                                   static_cast<std::uint32_t>(units * 8), bench.pair(0) + 16};
                    x.put(bench);
                    const Address out = bench.pair(2) + 20;
                    put_guards(bench, out, blocks * 4);
                    bench.put<std::uint32_t>(bench.region0_data(),
                                             {x.at, out, static_cast<std::uint32_t>(units),
                                              static_cast<std::uint32_t>(blocks)});
                    const auto outcome =
                        bench.call(std::string("block_norms_") + std::string(name_of(type)),
                                   program::VertexKind::MultiWorker, bench.region0_data());
                    std::size_t wrong = 0;
                    for (std::size_t block = 0; block < blocks; ++block) {
                        double sum = 0;
                        for (std::size_t at = 0; at < x.columns; ++at) {
                            sum += std::fabs(static_cast<double>(Matrix::element(block, at)));
                        }
                        wrong += read(bench, ElementType::F32, out, block) == sum ? 0 : 1;
                    }
                    CHECK(wrong == 0);
                    check_guards(bench, out, blocks * 4);
                    std::vector<std::int64_t> issues;
                    for (const std::size_t own :
                         dealt(blocks, static_cast<std::size_t>(workers), 1)) {
                        issues.push_back(
                            codelets::block_norms_issues(type, static_cast<std::int64_t>(own),
                                                         static_cast<std::int64_t>(units)));
                    }
                    CHECK(outcome.cycles == plan::multi_worker_cycles(bench.machine(), issues));
                }
            }
        }
    }
}

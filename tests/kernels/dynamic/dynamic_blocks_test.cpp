// SPDX-License-Identifier: MIT
// Codelets of dynamic products of blocks on what encode() writes: each tile looks through all
// buckets, and has what the decoded pattern says.
#include "kernels/dynamic/decode.h"
#include "kernels/dynamic/encode.h"
#include "tests/kernels/codelets/codelet_bench.h"
#include "tests/kernels/dynamic/dynamic_patterns.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::dynamic;

namespace {

std::vector<std::int64_t> blocks_of(ElementType data) {
    return data == ElementType::F16 ? std::vector<std::int64_t>{4, 8, 16}
                                    : std::vector<std::int64_t>{4, 8};
}

/// Small whole numbers, of several arrays.
float at(std::int64_t index, std::int64_t array) {
    return test::small_integer(static_cast<std::size_t>(index + 4096 * array), 2);
}
std::vector<float> filled(std::int64_t elements, std::int64_t array) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < elements; ++i) {
        values.push_back(at(i, array));
    }
    return values;
}

/// Buckets of a pattern of 7 x 5 blocks, and the tile that takes part after part of a product.
class BlockBuckets {
public:
    BlockBuckets(codelets::ProductTypes types, std::int64_t block, std::int64_t n, int kind,
                 bool lists)
        : types_(types), block_(block) {
        Problem problem;
        problem.m = 7 * block;
        problem.k = 5 * block;
        problem.n = 2 * n;
        problem.block = block;
        problem.density = 0.4;
        problem.data = types.data;
        problem.partials = types.partials;
        problem.excess = kind == 1 ? 2.5 : 0.3; // all places: more than is planned for
        problem.passes.values_gradient = lists;
        const auto machine = published::dense_machine(spec::MachineSpec{});
        layout_ = layout_of(problem, machine, plan_of(problem, machine, {2, 3, 2}));
        std::mt19937_64 random(static_cast<std::uint64_t>(100 * kind + n));
        encoding_ = encode(
            layout_, test::skewed(problem.m, problem.k, block, problem.density, kind, random));
        decoded_ = decode(layout_, encoding_.metadata);
    }

    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] std::int64_t blocks() const { return decoded_.pattern.blocks(); }
    [[nodiscard]] std::int64_t overfull() const { return encoding_.dealt.overfull; }

    /// Elements of the product, or of the gradient of its dense operand, that differ on tile (x, y).
    std::int64_t wrong(test::CodeletBench& bench, bool of_input, std::int64_t x, std::int64_t y) {
        const std::int64_t to_rows = of_input ? layout_.part_columns : layout_.part_rows;
        const std::int64_t from_rows = of_input ? layout_.part_rows : layout_.part_columns;
        const std::int64_t row_elements = layout_.n * block_;
        const auto before = filled(to_rows * row_elements, 2);
        put(bench, x, y, before, filled(from_rows * row_elements, 3), of_input);
        bench.call(fmt::format("dynamic_block{}_{}{}", block_, of_input ? "input_" : "",
                               codelets::suffix(types_)),
                   program::VertexKind::Supervisor, bench.region0_data());
        std::vector<float> expected = before;
        const workload::SparsePattern& pattern = decoded_.pattern;
        for (std::int64_t i = 0; i < pattern.block_rows(); ++i) {
            const std::int64_t row = i - x * layout_.part_rows;
            for (std::int64_t b = pattern.first_block(i); b < pattern.first_block(i + 1); ++b) {
                const std::int64_t k = pattern.column_of(b) - y * layout_.part_columns;
                if (row < 0 || row >= layout_.part_rows || k < 0 || k >= layout_.part_columns) {
                    continue;
                }
                const std::int64_t block = decoded_.places[static_cast<std::size_t>(b)];
                const std::int64_t to = (of_input ? k : row) * row_elements;
                const std::int64_t from = (of_input ? row : k) * row_elements;
                for (std::int64_t column = 0; column < layout_.n; ++column) {
                    for (std::int64_t r = 0; r < block_; ++r) {
                        for (std::int64_t c = 0; c < block_; ++c) {
                            const std::int64_t at_column = column * block_;
                            expected[static_cast<std::size_t>(to + at_column +
                                                              (of_input ? c : r))] +=
                                value(block, r, c) * at(from + at_column + (of_input ? r : c), 3);
                        }
                    }
                }
            }
        }
        std::int64_t errors = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            errors += test::get_as(bench, types_.partials, bench.pair(1), i) == expected[i] ? 0 : 1;
        }
        return errors;
    }

    /// Partials of the gradient of the values that differ when tile (x, y) has seen all buckets: those
    /// of other tiles too, which stay as they are.
    std::int64_t wrong_values(test::CodeletBench& bench, bool amp, std::int64_t x, std::int64_t y) {
        const auto before = filled(layout_.buckets() * layout_.bucket.values, 2);
        const Address out = bench.pair(0);
        const Address dense = bench.pair(7);
        const Address gradient = bench.pair(8);
        const Address metadata = bench.region0_data() + 0x200;
        bench.put(metadata, encoding_.metadata);
        bench.put(out, before);
        test::put_as(bench, types_.data, dense, operand(layout_.part_columns, 3, amp));
        test::put_as(bench, types_.data, gradient, operand(layout_.part_rows, 4, amp));
        bench.put(bench.region0_data(),
                  std::vector<std::uint32_t>{
                      out, metadata, 0, dense, static_cast<Address>(2 * layout_.bucket.metadata),
                      static_cast<Address>(4 * layout_.bucket.values),
                      static_cast<std::uint32_t>(layout_.buckets() - 1),
                      static_cast<std::uint32_t>(1 + x * layout_.split.y + y),
                      static_cast<std::uint32_t>(layout_.n), bench.region0_data() + 0x100,
                      gradient});
        bench.call(fmt::format("dynamic_block{}_{}values_{}", block_, amp ? "amp_" : "",
                               codelets::suffix(types_)),
                   program::VertexKind::Supervisor, bench.region0_data());
        std::vector<float> expected = before;
        const workload::SparsePattern& pattern = decoded_.pattern;
        for (std::int64_t i = 0; i < pattern.block_rows(); ++i) {
            const std::int64_t row = i - x * layout_.part_rows;
            for (std::int64_t b = pattern.first_block(i); b < pattern.first_block(i + 1); ++b) {
                const std::int64_t k = pattern.column_of(b) - y * layout_.part_columns;
                if (row < 0 || row >= layout_.part_rows || k < 0 || k >= layout_.part_columns) {
                    continue;
                }
                for (std::int64_t r = 0; r < block_; ++r) {
                    for (std::int64_t c = 0; c < block_; ++c) {
                        const std::int64_t place = decoded_.places[static_cast<std::size_t>(b)];
                        float& sum =
                            expected[static_cast<std::size_t>((place * block_ + r) * block_ + c)];
                        for (std::int64_t column = 0; column < layout_.n; ++column) {
                            sum += at((k * layout_.n + column) * block_ + c, 3) *
                                   at((row * layout_.n + column) * block_ + r, 4);
                        }
                    }
                }
            }
        }
        const auto found = bench.get<float>(out, expected.size());
        std::int64_t errors = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            errors += found[i] == expected[i] ? 0 : 1;
        }
        return errors;
    }

private:
    /// Buckets behind the scratch, behind the state; for the gradient blocks of rows by columns.
    void put(test::CodeletBench& bench, std::int64_t x, std::int64_t y,
             const std::vector<float>& out, const std::vector<float>& dense, bool transposed) {
        const Address state = bench.region0_data();
        const Address scratch = state + 64;
        const Address metadata = scratch + 256;
        const auto metadata_bytes = static_cast<Address>(2 * layout_.bucket.metadata);
        const auto values_bytes =
            static_cast<Address>(layout_.bucket.values * layout_.element_bytes);
        const auto buckets = static_cast<Address>(layout_.buckets());
        const Address values = (metadata + metadata_bytes * buckets + 15U) & ~7U;
        bench.put(metadata, encoding_.metadata);
        std::vector<float> blocks;
        for (std::int64_t i = 0; i < layout_.buckets() * layout_.bucket.values; ++i) {
            const std::int64_t column = i % block_;
            const std::int64_t row = i / block_ % block_;
            const std::int64_t block = i / block_ / block_;
            blocks.push_back(transposed ? value(block, column, row) : value(block, row, column));
        }
        test::put_as(bench, types_.data, values, blocks);
        test::put_as(bench, types_.partials, bench.pair(1), out);
        test::put_as(bench, types_.data, bench.pair(4), dense);
        bench.put(state,
                  std::vector<std::uint32_t>{
                      bench.pair(1), metadata, values, bench.pair(4), metadata_bytes, values_bytes,
                      buckets - 1, static_cast<std::uint32_t>(1 + x * layout_.split.y + y),
                      static_cast<std::uint32_t>(layout_.n), scratch});
    }

    /// Rows of X or dY, [row][column][B], or for the matrix unit [row][group of columns][B][column].
    [[nodiscard]] std::vector<float> operand(std::int64_t rows, std::int64_t array,
                                             bool amp) const {
        const auto plain = filled(rows * layout_.n * block_, array);
        if (!amp) {
            return plain;
        }
        const std::int64_t group = types_.data == ElementType::F16 ? 16 : 8;
        std::vector<float> grouped;
        for (std::int64_t i = 0; i < std::ssize(plain); ++i) {
            const std::int64_t column = i / group / block_ * group + i % group;
            grouped.push_back(
                plain[static_cast<std::size_t>(column * block_ + i / group % block_)]);
        }
        return grouped;
    }

    [[nodiscard]] float value(std::int64_t block, std::int64_t row, std::int64_t column) const {
        return at((block * block_ + row) * block_ + column, 1);
    }

    codelets::ProductTypes types_;
    std::int64_t block_;
    Layout layout_;
    Encoding encoding_;
    Decoded decoded_;
};

} // namespace

TEST_CASE("codelets of dynamic blocks multiply what is encoded, and its transpose",
          "[kernels][dynamic]") {
    std::int64_t overfull = 0;
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        test::CodeletBench bench({fmt::format("dynamic_blocks_{}", codelets::suffix(types)),
                                  fmt::format("dynamic_blocks_input_{}", codelets::suffix(types))});
        for (const std::int64_t block : blocks_of(types.data)) {
            for (int kind = 0; kind < test::kSkewedKinds; ++kind) {
                // workers without columns, and with up to six, shared unevenly
                for (const std::int64_t n : {1, 14, 23, 31}) {
                    BlockBuckets buckets(types, block, n, kind, kind % 2 == 1);
                    CAPTURE(codelets::suffix(types), block, kind, n, buckets.blocks());
                    overfull += buckets.overfull();
                    const Split& split = buckets.layout().split;
                    std::int64_t wrong = 0;
                    std::int64_t wrong_transposed = 0;
                    for (std::int64_t x = 0; x < split.x; ++x) {
                        for (std::int64_t y = 0; y < split.y; ++y) {
                            wrong += buckets.wrong(bench, false, x, y);
                            wrong_transposed += buckets.wrong(bench, true, x, y);
                        }
                    }
                    CHECK(wrong == 0);
                    CHECK(wrong_transposed == 0);
                }
            }
        }
    }
    CHECK(overfull > 0);
}

TEST_CASE("codelets of dynamic blocks give the values' gradient where the pattern has blocks",
          "[kernels][dynamic]") {
    std::int64_t overfull = 0;
    for (const bool amp : {false, true}) {
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            if (types.partials == ElementType::F16) {
                continue; // partials of values are FP32
            }
            test::CodeletBench bench({fmt::format("dynamic_blocks_{}values_{}", amp ? "amp_" : "",
                                                  codelets::suffix(types))});
            for (const std::int64_t block : blocks_of(types.data)) {
                for (int kind = 0; kind < test::kSkewedKinds; ++kind) {
                    for (const std::int64_t n : amp ? std::vector<std::int64_t>{16, 48}
                                                    : std::vector<std::int64_t>{1, 9}) {
                        BlockBuckets buckets(types, block, n, kind, true);
                        CAPTURE(amp, codelets::suffix(types), block, kind, n, buckets.blocks());
                        overfull += buckets.overfull();
                        const Split& split = buckets.layout().split;
                        std::int64_t wrong = 0;
                        for (std::int64_t x = 0; x < split.x; ++x) {
                            for (std::int64_t y = 0; y < split.y; ++y) {
                                wrong += buckets.wrong_values(bench, amp, x, y);
                            }
                        }
                        CHECK(wrong == 0);
                    }
                }
            }
        }
    }
    CHECK(overfull > 0);
}

TEST_CASE("workers of any number share the columns and rows of dynamic blocks",
          "[kernels][dynamic]") {
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        const std::string suffix = codelets::suffix(types);
        std::vector<std::string> sources{"dynamic_blocks_" + suffix};
        const bool values = types.partials == ElementType::F32;
        if (values) {
            sources.push_back("dynamic_blocks_amp_values_" + suffix);
        }
        for (const std::int64_t workers : {1, 3, 8}) {
            test::CodeletBench bench(sources, workers);
            for (const std::int64_t block : blocks_of(types.data)) {
                BlockBuckets buckets(types, block, 32, 9, false);
                CAPTURE(suffix, workers, block);
                CHECK(buckets.wrong(bench, false, 1, 1) == 0);
                if (values) {
                    CHECK(buckets.wrong_values(bench, true, 1, 1) == 0);
                }
            }
        }
    }
}

TEST_CASE("codelets transpose blocks where they lie", "[kernels][dynamic]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const std::string suffix = type == ElementType::F16 ? "f16" : "f32";
        test::CodeletBench bench({"dynamic_transpose_" + suffix});
        const Address values = bench.region0_data() + 0x40;
        for (const std::int64_t block : blocks_of(type)) {
            for (const std::int64_t blocks : {0, 1, 5, 6, 14}) {
                CAPTURE(suffix, block, blocks);
                const std::int64_t elements = blocks * block * block;
                // and a row behind, that stays
                const auto before = filled(elements + block, 5);
                test::put_as(bench, type, values, before);
                bench.put(bench.region0_data(),
                          std::vector<std::uint32_t>{values, static_cast<std::uint32_t>(blocks)});
                bench.call(fmt::format("dynamic_transpose_block{}_{}", block, suffix),
                           program::VertexKind::MultiWorker, bench.region0_data());
                std::int64_t wrong = 0;
                for (std::int64_t i = 0; i < elements + block; ++i) {
                    const std::int64_t first = i / block / block * block * block;
                    const std::int64_t from =
                        i < elements ? first + i % block * block + i / block % block : i;
                    wrong += test::get_as(bench, type, values, static_cast<std::size_t>(i)) !=
                             before[static_cast<std::size_t>(from)];
                }
                CHECK(wrong == 0);
            }
        }
    }
}

// SPDX-License-Identifier: MIT
// Codelets of dynamic products of single elements on what encode() writes: each tile looks through
// all buckets, and has what the decoded pattern says.
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

/// The codelet, which is the name of its source too.
std::string entry(codelets::ProductTypes types, bool of_input) {
    return fmt::format("dynamic_elements_{}{}", of_input ? "input_" : "", codelets::suffix(types));
}

/// Buckets of a pattern, and the tile that takes part after part of the product.
class ElementBuckets {
public:
    struct Sizes {
        std::int64_t m = 0;
        std::int64_t k = 0;
        std::int64_t n = 0;
        Split split;
    };

    ElementBuckets(codelets::ProductTypes types, const Sizes& sizes, int kind, std::uint64_t seed)
        : types_(types) {
        Problem problem;
        problem.m = sizes.m;
        problem.k = sizes.k;
        problem.n = sizes.n;
        problem.density = 0.3;
        problem.data = types.data;
        problem.partials = types.partials;
        problem.excess = kind == 1 ? 2.5 : 0.9; // all places: three times what is planned for
        problem.passes.values_gradient = kind % 2 == 1;
        const auto machine = published::dense_machine(spec::MachineSpec{});
        layout_ = layout_of(problem, machine, plan_of(problem, machine, sizes.split));
        std::mt19937_64 random(seed);
        encoding_ =
            encode(layout_, test::skewed(sizes.m, sizes.k, 1, problem.density, kind, random));
        decoded_ = decode(layout_, encoding_.metadata);
    }

    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] std::int64_t blocks() const { return decoded_.pattern.blocks(); }
    [[nodiscard]] std::int64_t overfull() const { return encoding_.overfull; }

    /// Elements of the product, or of the gradient of its dense operand, that differ on tile (x, y).
    std::int64_t wrong(test::CodeletBench& bench, bool of_input, std::int64_t x, std::int64_t y) {
        const Address state = bench.region0_data();
        const Address scratch = state + 64;
        const Address metadata = scratch + 256;
        const auto metadata_bytes = static_cast<Address>(2 * layout_.bucket.metadata);
        const auto values_bytes =
            static_cast<Address>(layout_.bucket.values * layout_.element_bytes);
        const auto buckets = static_cast<Address>(layout_.buckets());
        const Address values = (metadata + metadata_bytes * buckets + 9U) & ~7U;
        const Address out = bench.pair(1);
        const Address dense = bench.pair(2);
        bench.put(metadata, encoding_.metadata);
        test::put_as(bench, types_.data, values,
                     filled(layout_.buckets() * layout_.bucket.values, 1));
        test::put_as(bench, types_.data, dense,
                     filled((of_input ? layout_.part_rows : layout_.part_columns) * layout_.n, 3));
        const auto before =
            filled((of_input ? layout_.part_columns : layout_.part_rows) * layout_.n, 2);
        test::put_as(bench, types_.partials, out, before);
        bench.put(state, std::vector<std::uint32_t>{
                             out, metadata, values, dense, metadata_bytes, values_bytes,
                             buckets - 1, static_cast<std::uint32_t>(1 + x * layout_.split.y + y),
                             static_cast<std::uint32_t>(layout_.n), scratch});
        bench.call(entry(types_, of_input), program::VertexKind::Supervisor, state);
        std::vector<float> expected = before;
        const workload::SparsePattern& pattern = decoded_.pattern;
        for (std::int64_t row = 0; row < layout_.part_rows; ++row) {
            const std::int64_t in_w = x * layout_.part_rows + row;
            if (in_w >= pattern.block_rows()) {
                break;
            }
            for (std::int64_t block = pattern.first_block(in_w);
                 block < pattern.first_block(in_w + 1); ++block) {
                const std::int64_t k = pattern.column_of(block) - y * layout_.part_columns;
                if (k < 0 || k >= layout_.part_columns) {
                    continue;
                }
                const std::int64_t to = of_input ? k : row;
                const std::int64_t from = of_input ? row : k;
                for (std::int64_t column = 0; column < layout_.n; ++column) {
                    expected[static_cast<std::size_t>(to * layout_.n + column)] +=
                        at(decoded_.places[static_cast<std::size_t>(block)], 1) *
                        at(from * layout_.n + column, 3);
                }
            }
        }
        std::int64_t errors = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            errors += test::get_as(bench, types_.partials, out, i) == expected[i] ? 0 : 1;
        }
        return errors;
    }

private:
    static float at(std::int64_t index, std::int64_t array) {
        return test::small_integer(static_cast<std::size_t>(index + 4096 * array), 3);
    }
    static std::vector<float> filled(std::int64_t elements, std::int64_t array) {
        std::vector<float> values;
        for (std::int64_t i = 0; i < elements; ++i) {
            values.push_back(at(i, array));
        }
        return values;
    }

    codelets::ProductTypes types_;
    Layout layout_;
    Encoding encoding_;
    Decoded decoded_;
};

} // namespace

TEST_CASE("codelets of dynamic elements multiply what is encoded, and its transpose",
          "[kernels][dynamic]") {
    std::int64_t overfull = 0;
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        test::CodeletBench bench({entry(types, false), entry(types, true)});
        const std::int64_t grain = types.data == ElementType::F16 ? 4 : 2;
        for (int kind = 0; kind < test::kSkewedKinds; ++kind) {
            // half a group of columns, one, one and a half, and more than workers
            for (const std::int64_t grains : {1, 2, 3, 6, 7}) {
                ElementBuckets buckets(types, {26, 18, 2 * grains * grain, {2, 3, 2}}, kind,
                                       static_cast<std::uint64_t>(100 * kind + grains));
                CAPTURE(codelets::suffix(types), kind, grains, buckets.blocks());
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
    CHECK(overfull > 0);
}

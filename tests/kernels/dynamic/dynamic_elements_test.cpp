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

enum class Pass : std::uint8_t { Product, Input, Values };

/// The codelet, which is the name of its source too.
std::string entry(codelets::ProductTypes types, Pass pass) {
    if (pass == Pass::Values) {
        types.partials = ElementType::F32;
    }
    const char* of = pass == Pass::Product ? "" : pass == Pass::Input ? "input_" : "values_";
    return fmt::format("dynamic_elements_{}{}", of, codelets::suffix(types));
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

    ElementBuckets(const spec::MachineSpec& spec, codelets::ProductTypes types, const Sizes& sizes,
                   int kind, bool lists, std::uint64_t seed)
        : types_(types) {
        Problem problem;
        problem.m = sizes.m;
        problem.k = sizes.k;
        problem.n = sizes.n;
        problem.density = 0.3;
        problem.data = types.data;
        problem.partials = types.partials;
        problem.excess = kind == 1 ? 2.5 : 0.9; // all places: three times what is planned for
        problem.passes.values_gradient = lists;
        const auto machine = published::dense_machine(spec);
        layout_ = layout_of(problem, machine, plan_of(problem, machine, sizes.split));
        std::mt19937_64 random(seed);
        encoding_ =
            encode(layout_, test::skewed(sizes.m, sizes.k, 1, problem.density, kind, random));
        decoded_ = decode(layout_, encoding_.metadata);
    }

    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] std::int64_t blocks() const { return decoded_.pattern.blocks(); }
    [[nodiscard]] std::int64_t overfull() const { return encoding_.dealt.overfull; }

    /// Elements of the product on tile (x, y) that differ, of the gradient of its dense operand, or
    /// of the gradient of the values, which are all those of the buckets.
    std::int64_t wrong(test::CodeletBench& bench, Pass pass, std::int64_t x, std::int64_t y) {
        const bool of_values = pass == Pass::Values;
        const std::int64_t inputs = layout_.part_columns * layout_.n;
        const std::int64_t outputs = layout_.part_rows * layout_.n;
        const std::int64_t values = layout_.buckets() * layout_.bucket.values;
        const Address state = bench.region0_data();
        const Address scratch = state + 64;
        const Address metadata = scratch + 256;
        const auto metadata_bytes = static_cast<Address>(2 * layout_.bucket.metadata);
        const auto buckets = static_cast<Address>(layout_.buckets());
        const Address in_buckets = (metadata + metadata_bytes * buckets + 9U) & ~7U;
        const Address out = bench.pair(1);
        const Address dense = bench.pair(2);
        const Address dy = bench.pair(3);
        const ElementType out_type = of_values ? ElementType::F32 : types_.partials;
        bench.put(metadata, encoding_.metadata);
        test::put_as(bench, types_.data, in_buckets, filled(values, kValues));
        test::put_as(bench, types_.data, dense,
                     pass == Pass::Input ? filled(outputs, kDy) : filled(inputs, kX));
        test::put_as(bench, types_.data, dy, filled(outputs, kDy));
        std::vector<float> expected = filled(of_values             ? values
                                             : pass == Pass::Input ? inputs
                                                                   : outputs,
                                             kBefore);
        test::put_as(bench, out_type, out, expected);
        const auto bucket_bytes =
            static_cast<Address>(layout_.bucket.values * (of_values ? 4 : layout_.element_bytes));
        bench.put(state, std::vector<std::uint32_t>{
                             out, metadata, in_buckets, dense, metadata_bytes, bucket_bytes,
                             buckets - 1, static_cast<std::uint32_t>(1 + x * layout_.split.y + y),
                             static_cast<std::uint32_t>(layout_.n), scratch, dy});
        bench.call(entry(types_, pass), program::VertexKind::Supervisor, state);
        each_element(x, y, [&](std::int64_t row, std::int64_t column, std::int64_t place) {
            for (std::int64_t i = 0; i < layout_.n; ++i) {
                const std::int64_t in = column * layout_.n + i;
                const std::int64_t of_row = row * layout_.n + i;
                if (of_values) {
                    expected[static_cast<std::size_t>(place)] += at(of_row, kDy) * at(in, kX);
                } else if (pass == Pass::Input) {
                    expected[static_cast<std::size_t>(in)] += at(place, kValues) * at(of_row, kDy);
                } else {
                    expected[static_cast<std::size_t>(of_row)] += at(place, kValues) * at(in, kX);
                }
            }
        });
        std::int64_t errors = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            errors += test::get_as(bench, out_type, out, i) == expected[i] ? 0 : 1;
        }
        return errors;
    }

private:
    // arrays
    static constexpr std::int64_t kValues = 1;
    static constexpr std::int64_t kBefore = 2;
    static constexpr std::int64_t kX = 3;
    static constexpr std::int64_t kDy = 4;

    /// Row and column in part (x, y) of each of its elements, and its place in the buckets.
    template <class Visit> void each_element(std::int64_t x, std::int64_t y, Visit visit) const {
        const workload::SparsePattern& pattern = decoded_.pattern;
        for (std::int64_t row = 0; row < layout_.part_rows; ++row) {
            const std::int64_t in_w = x * layout_.part_rows + row;
            if (in_w >= pattern.block_rows()) {
                break;
            }
            for (std::int64_t block = pattern.first_block(in_w);
                 block < pattern.first_block(in_w + 1); ++block) {
                const std::int64_t column = pattern.column_of(block) - y * layout_.part_columns;
                if (column >= 0 && column < layout_.part_columns) {
                    visit(row, column, decoded_.places[static_cast<std::size_t>(block)]);
                }
            }
        }
    }
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

namespace {

/// Buckets that had more blocks than room.
std::int64_t check_passes(codelets::ProductTypes types, std::int64_t workers) {
    std::int64_t overfull = 0;
    test::CodeletBench bench(
        {entry(types, Pass::Product), entry(types, Pass::Input), entry(types, Pass::Values)},
        workers);
    const std::int64_t grain = types.data == ElementType::F16 ? 4 : 2;
    for (int kind = 0; kind < test::kSkewedKinds; ++kind) {
        // half a group of columns, one, one and a half, and more than workers
        for (const std::int64_t grains : {1, 2, 3, 6, 7}) {
            const bool lists = (kind + grains) % 2 == 0;
            ElementBuckets buckets(bench.machine(), types, {26, 18, 2 * grains * grain, {2, 3, 2}},
                                   kind, lists, static_cast<std::uint64_t>(100 * kind + grains));
            CAPTURE(codelets::suffix(types), workers, kind, grains, buckets.blocks());
            overfull += buckets.overfull();
            const Split& split = buckets.layout().split;
            std::int64_t wrong = 0;
            std::int64_t wrong_input = 0;
            std::int64_t wrong_values = 0;
            for (std::int64_t x = 0; x < split.x; ++x) {
                for (std::int64_t y = 0; y < split.y; ++y) {
                    wrong += buckets.wrong(bench, Pass::Product, x, y);
                    wrong_input += buckets.wrong(bench, Pass::Input, x, y);
                    wrong_values += lists ? buckets.wrong(bench, Pass::Values, x, y) : 0;
                }
            }
            CHECK(wrong == 0);
            CHECK(wrong_input == 0);
            CHECK(wrong_values == 0);
        }
    }
    return overfull;
}

} // namespace

TEST_CASE("codelets of dynamic elements have product and gradients of what is encoded",
          "[kernels][dynamic]") {
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        CHECK(check_passes(types, 6) > 0);
    }
    for (const std::int64_t workers : {1, 4, 8}) {
        check_passes(codelets::of_f16(ElementType::F32), workers);
    }
}

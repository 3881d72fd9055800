// SPDX-License-Identifier: MIT
// The vertex of sparse_dense_dynamic.S on what encode() writes: each tile looks through all buckets.
#include "base/float16.h"
#include "kernels/dynamic/encode.h"
#include "tests/kernels/dynamic/dynamic_patterns.h"
#include "tests/support/assembled_tile.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::dynamic;

namespace {

/// Small whole numbers, -2 to 2 and -3 to 3.
float value_at(std::int64_t index) {
    return static_cast<float>(index * 7 % 5 - 2);
}
float x_at(std::int64_t row, std::int64_t column) {
    return static_cast<float>((row * 31 + column * 3) % 7 - 3);
}

/// The vertex, and a supervisor that starts it on all workers with scratch of their own.
std::string program_text(ElementType type, Address state, Address scratch, std::int64_t workers) {
    std::ifstream in(test::source_path("kernels/codelets/published/sparse_dense_dynamic.S"));
    std::string text{std::istreambuf_iterator<char>(in), {}};
    text += ".section .text.start, \"ax\"\n.supervisor\n.align 8\nstart:\n";
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        text +=
            fmt::format("setzi $m0, {}\nput $WORKER{}_BASE, $m0\n", scratch + 64 * worker, worker);
    }
    return text + fmt::format("setzi $m1, SparseDenseMatMulElementWise_{}_float\n"
                              "setzi $m2, {}\nrunall $m1, $m2, 0\n"
                              "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n",
                              type == ElementType::F16 ? "half" : "float", state);
}

void write_as(test::AssembledTile& tile, ElementType type, Address at,
              const std::vector<float>& values) {
    if (type == ElementType::F32) {
        tile.write(at, values);
        return;
    }
    std::vector<std::uint16_t> halves;
    for (const float value : values) {
        halves.push_back(f32_to_f16(value));
    }
    tile.write(at, halves);
}

/// Partial results of part (x, y) for columns of X that begin at `first_column`.
std::vector<float> run_tile(ElementType type, const Layout& layout, const Encoding& encoding,
                            const std::vector<float>& values, std::int64_t x, std::int64_t y,
                            std::int64_t first_column) {
    const spec::MachineSpec machine;
    const auto buckets = static_cast<std::size_t>(layout.buckets());
    const Address scratch =
        machine.memory.region0_begin() + static_cast<Address>(machine.memory.element_bytes);
    const Address state = scratch + static_cast<Address>(64 * layout.workers);
    const Address tables = state + 64;
    const Address metadata = tables + static_cast<Address>(8 * buckets + 8);
    const auto metadata_bytes = static_cast<Address>(2 * layout.bucket.metadata);
    const auto values_bytes = static_cast<Address>(layout.bucket.values * layout.element_bytes);
    const Address first_value =
        (metadata + metadata_bytes * static_cast<Address>(buckets) + 23U) & ~7U;
    const Address out = machine.memory.region1_begin();
    const Address dense = out + 2 * static_cast<Address>(machine.memory.element_bytes);
    test::AssembledTile tile(program_text(type, state, scratch, layout.workers), machine);
    std::vector<std::uint32_t> lists;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        lists.push_back(metadata + metadata_bytes * static_cast<Address>(bucket));
    }
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        lists.push_back(first_value + values_bytes * static_cast<Address>(bucket));
    }
    tile.write(tables, lists);
    tile.write(metadata, encoding.metadata);
    write_as(tile, type, first_value, values);
    std::vector<float> part;
    for (std::int64_t row = 0; row < layout.part_columns; ++row) {
        for (std::int64_t column = 0; column < layout.n; ++column) {
            part.push_back(x_at(y * layout.part_columns + row, first_column + column));
        }
    }
    write_as(tile, type, dense, part);
    const std::vector<float> zeros(static_cast<std::size_t>(layout.part_rows * layout.n));
    tile.write(out, zeros);
    tile.write(state, std::vector<std::uint32_t>{
                          out, tables, tables + static_cast<Address>(4 * buckets), dense,
                          static_cast<std::uint32_t>(layout.n) |
                              static_cast<std::uint32_t>(1 + x * layout.split.y + y) << 16U,
                          static_cast<std::uint32_t>(buckets - 1)});
    tile.run();
    return tile.read<float>(out, zeros.size());
}

} // namespace

TEST_CASE("dynamic_encode: the published vertex multiplies what is encoded", "[kernels][dynamic]") {
    std::mt19937_64 random(3);
    std::int64_t overfull = 0;
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const int kind : {2, 5, 7, 9}) {
            Problem problem;
            problem.m = 26;
            problem.k = 18;
            problem.n = 48;
            problem.density = 0.3;
            problem.data = type;
            problem.excess = 0.5;
            problem.passes.values_gradient = kind == 9;
            const auto machine = published::dense_machine(spec::MachineSpec{});
            Layout layout = layout_of(problem, machine, plan_of(problem, machine, {2, 3, 2}));
            layout.n_grain = type == ElementType::F16 ? 8 : 4; // that the vertex takes at once
            const auto pattern =
                test::skewed(problem.m, problem.k, 1, problem.density, kind, random);
            CAPTURE(name_of(type), kind, pattern.blocks());
            const Encoding encoding = encode(layout, pattern);
            overfull += encoding.dealt.overfull;
            std::vector<float> values;
            for (std::int64_t block = 0; block < pattern.blocks(); ++block) {
                values.push_back(value_at(block));
            }
            const auto in_buckets = bucket_values(encoding, values);
            std::vector<float> sums(static_cast<std::size_t>(problem.m * problem.n));
            for (std::int64_t x = 0; x < layout.split.x; ++x) {
                for (std::int64_t y = 0; y < layout.split.y; ++y) {
                    for (std::int64_t z = 0; z < layout.split.z; ++z) {
                        const auto part =
                            run_tile(type, layout, encoding, in_buckets, x, y, z * layout.n);
                        for (std::int64_t i = 0; i < std::ssize(part); ++i) {
                            const std::int64_t row = x * layout.part_rows + i / layout.n;
                            if (row < problem.m) {
                                sums[static_cast<std::size_t>(row * problem.n + z * layout.n +
                                                              i % layout.n)] +=
                                    part[static_cast<std::size_t>(i)];
                            }
                        }
                    }
                }
            }
            std::int64_t wrong = 0;
            for (std::int64_t row = 0; row < problem.m; ++row) {
                for (std::int64_t column = 0; column < problem.n; ++column) {
                    float sum = 0;
                    for (std::int64_t block = pattern.first_block(row);
                         block < pattern.first_block(row + 1); ++block) {
                        sum += value_at(block) * x_at(pattern.column_of(block), column);
                    }
                    wrong += sums[static_cast<std::size_t>(row * problem.n + column)] != sum;
                }
            }
            CHECK(wrong == 0);
        }
    }
    CHECK(overfull > 0);
}

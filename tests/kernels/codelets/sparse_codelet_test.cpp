// SPDX-License-Identifier: MIT
#include "kernels/codelets/spmm_blocks_cost.h"
#include "kernels/codelets/spmm_elementwise_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <utility>
#include <vector>

namespace {

using namespace tessera;

/// Rows of non-zeros for every worker, the lists of the vertex, and what it should give.
class ElementwiseVertex {
public:
    ElementwiseVertex(codelets::ProductTypes types, std::int64_t workers, std::size_t column_groups)
        : types_(types), bench_({entry()}, workers), workers_(static_cast<std::size_t>(workers)),
          columns_(16 / static_cast<std::size_t>(bytes_of(types.data)) * column_groups),
          groups_(column_groups) {
        make_rows();
        const auto data_bytes = static_cast<std::uint32_t>(bytes_of(types.data));
        const std::uint32_t row_bytes = static_cast<std::uint32_t>(columns_) *
                                        static_cast<std::uint32_t>(bytes_of(types.partials));
        std::vector<std::uint32_t> state = {row_bytes / 8 - (types.sums_are_results() ? 1 : 3)};
        std::uint32_t row = 0;
        std::uint32_t at = 0;
        std::vector<std::uint16_t> deltas;
        std::vector<float> values;
        std::vector<std::uint16_t> counts;
        for (const auto& rows : rows_) {
            state.insert(state.end(),
                         {deltas_ + 2 * at, values_ + data_bytes * at, counts_ + 2 * row,
                          out_ + row * row_bytes, static_cast<std::uint32_t>(rows.size()) - 1, x_,
                          static_cast<std::uint32_t>(groups_ - 1)});
            for (const auto& non_zeros : rows) {
                counts.push_back(static_cast<std::uint16_t>(non_zeros.size() - 1));
                for (const std::size_t column : non_zeros) {
                    deltas.push_back(static_cast<std::uint16_t>(column * columns_ * data_bytes));
                    values.push_back(value(at));
                    ++at;
                }
                ++row;
            }
        }
        bench_.put(state_, state);
        bench_.put(deltas_, deltas);
        test::put_as(bench_, types.data, values_, values);
        bench_.put(counts_, counts);
        std::vector<float> x;
        for (std::size_t i = 0; i < kRowsOfX * columns_; ++i) {
            x.push_back(test::small_integer(i, 4));
        }
        test::put_as(bench_, types.data, x_, x);
    }

    tile::ComputeOutcome run() {
        return bench_.call(entry(), program::VertexKind::MultiWorker, state_);
    }

    std::size_t wrong() {
        std::size_t errors = 0;
        std::size_t at = 0;
        std::size_t row = 0;
        for (const auto& rows : rows_) {
            for (const auto& non_zeros : rows) {
                for (std::size_t column = 0; column < columns_; ++column) {
                    float sum = 0;
                    for (std::size_t i = 0; i < non_zeros.size(); ++i) {
                        sum += value(at + i) *
                               test::small_integer(non_zeros[i] * columns_ + column, 4);
                    }
                    errors += result(row * columns_ + column) == sum ? 0 : 1;
                }
                at += non_zeros.size();
                ++row;
            }
        }
        return errors;
    }

    [[nodiscard]] Cycles predicted() const {
        std::vector<std::int64_t> issues;
        for (const auto& rows : rows_) {
            std::int64_t non_zeros = 0;
            for (const auto& row : rows) {
                non_zeros += static_cast<std::int64_t>(row.size());
            }
            issues.push_back(
                codelets::elementwise_issues(types_, static_cast<std::int64_t>(rows.size()),
                                             non_zeros, static_cast<std::int64_t>(groups_)));
        }
        return plan::multi_worker_cycles(bench_.machine(), issues);
    }

private:
    static constexpr std::size_t kRowsOfX = 40;

    /// Worker 0 has one row, worker 1 none, the others more; rows of 1, 2, 3, ... non-zeros.
    void make_rows() {
        std::size_t next = 0;
        for (std::size_t worker = 0; worker < workers_; ++worker) {
            std::vector<std::vector<std::size_t>> rows(worker == 1 ? 0 : worker + 1);
            for (auto& non_zeros : rows) {
                non_zeros.resize(1 + next % 7);
                for (std::size_t& column : non_zeros) {
                    column = (++next * 17) % kRowsOfX;
                }
            }
            rows_.push_back(rows);
        }
    }
    static float value(std::size_t at) { return test::small_integer(at + 31337, 3); }
    [[nodiscard]] std::string entry() const {
        return fmt::format("spmm_elementwise_{}", codelets::suffix(types_));
    }
    float result(std::size_t at) { return test::get_as(bench_, types_.partials, out_, at); }

    codelets::ProductTypes types_;
    test::CodeletBench bench_;
    std::size_t workers_;
    std::size_t columns_;
    std::size_t groups_;
    std::vector<std::vector<std::vector<std::size_t>>> rows_;
    Address state_ = bench_.region0_data();
    Address deltas_ = bench_.region0_data() + 0x1000;
    Address values_ = bench_.region0_data() + 0x2000;
    Address counts_ = bench_.region0_data() + 0x3000;
    Address x_ = bench_.pair(0);
    Address out_ = bench_.pair(3);
};

/// Word order of the weight store.
std::size_t weight_index(ElementType partials, std::size_t channel, std::size_t input) {
    const std::size_t unit = partials == ElementType::F16
                                 ? 8 * ((channel >> 1U) & 1U) + 2 * (channel >> 2U) + (channel & 1U)
                                 : channel;
    return unit * 16 + input;
}

} // namespace

TEST_CASE("an elementwise vertex gives the exact product in the predicted cycles", "[kernels]") {
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        for (const std::int64_t workers : {1, 4, 6, 8}) {
            for (const std::size_t groups : {1U, 3U}) {
                CAPTURE(codelets::suffix(types), workers, groups);
                ElementwiseVertex vertex(types, workers, groups);
                const auto outcome = vertex.run();
                CHECK(vertex.wrong() == 0);
                CHECK(outcome.cycles == vertex.predicted());
            }
        }
    }
}

TEST_CASE("a block-sparse vertex walks its list of blocks in the predicted cycles", "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        const auto group = static_cast<std::size_t>(codelets::amp_group(partials));
        for (const std::int64_t workers : {1, 6, 8}) {
            for (const std::size_t columns : {1U, 8U, 14U, 40U}) {
                CAPTURE(partials == ElementType::F16, workers, columns);
                test::CodeletBench bench(
                    {partials == ElementType::F16 ? "matmul_amp_f16" : "matmul_amp_f32",
                     partials == ElementType::F16 ? "spmm_block16_f16" : "spmm_block16_f32"},
                    workers);
                const std::string name =
                    partials == ElementType::F16 ? "spmm_block16_f16" : "spmm_block16_f32";
                // two outputs: the first from blocks 0 and 1, the second from block 2
                const std::vector<std::size_t> x_of = {0, 2, 1};
                const std::vector<std::size_t> out_of = {0, 0, 1};
                const Address x = bench.region0_data() + 0x4000;
                const Address out = bench.pair(3);
                const Address entries = bench.region0_data() + 0x100;
                std::vector<std::uint32_t> list;
                std::vector<std::uint16_t> weights(3 * group * 16);
                for (std::size_t b = 0; b < 3; ++b) {
                    const bool fresh = b != 1;
                    list.push_back(x + static_cast<Address>(x_of[b] * columns * 32));
                    list.push_back(out + static_cast<Address>(out_of[b] * columns * 32));
                    list.push_back(bench.entry(name + (fresh ? "_fresh" : "_add")));
                    for (std::size_t i = 0; i < group * 16; ++i) {
                        weights[b * group * 16 + weight_index(partials, i / 16, i % 16)] =
                            f32_to_f16(test::small_integer(b * 4096 + i, 2));
                    }
                }
                std::vector<std::uint16_t> dense;
                for (std::size_t i = 0; i < 3 * columns * 16; ++i) {
                    dense.push_back(f32_to_f16(test::small_integer(i + 5, 3)));
                }
                const auto w = static_cast<std::uint32_t>(workers);
                const auto c = static_cast<std::uint32_t>(columns);
                bench.put<std::uint32_t>(bench.region0_data(),
                                         {bench.pair(0), entries, 2, c / w, c % w});
                bench.put(entries, list);
                bench.put(x, dense);
                bench.put(bench.pair(0), weights);
                const auto outcome =
                    bench.call(name, program::VertexKind::Supervisor, bench.region0_data());
                std::size_t wrong = 0;
                for (std::size_t o = 0; o < 2; ++o) {
                    for (std::size_t col = 0; col < columns; ++col) {
                        for (std::size_t ch = 0; ch < group; ++ch) {
                            float sum = 0;
                            for (std::size_t b = 0; b < 3; ++b) {
                                for (std::size_t i = 0; i < 16 && out_of[b] == o; ++i) {
                                    sum += test::small_integer(b * 4096 + ch * 16 + i, 2) *
                                           test::small_integer(
                                               (x_of[b] * columns + col) * 16 + i + 5, 3);
                                }
                            }
                            const std::size_t at = (o * columns + col) * group + ch;
                            const float got =
                                partials == ElementType::F16
                                    ? f16_to_f32(bench.get<std::uint16_t>(
                                          out + static_cast<Address>(2 * at), 1)[0])
                                    : bench.get<float>(out + static_cast<Address>(4 * at), 1)[0];
                            wrong += got == sum ? 0 : 1;
                        }
                    }
                }
                CHECK(wrong == 0);
                const std::vector<bool> fresh = {true, false, true};
                CHECK(outcome.cycles ==
                      plan::block16_vertex_cycles(bench.machine(), partials,
                                                  static_cast<std::int64_t>(columns), fresh));
            }
        }
    }
}

namespace {

/// Two rows of blocks, the second with one block; what stands in `out` before is no number.
class BlocksVertex {
public:
    BlocksVertex(std::size_t block, codelets::ProductTypes types, std::int64_t workers,
                 std::size_t columns, double steps_per_issue)
        : block_(block), types_(types), columns_(columns),
          bench_({fmt::format("spmm_blocks_{}", codelets::suffix(types))}, workers,
                 steps_per_issue) {
        const auto line = static_cast<std::uint32_t>(columns * block);
        const auto x_bytes = line * static_cast<std::uint32_t>(bytes_of(types.data));
        std::vector<std::uint32_t> meta;
        for (std::size_t row = 0, at = 0; row < row_blocks_.size(); ++row) {
            meta.push_back(static_cast<std::uint32_t>(row_blocks_[row] - 1));
            for (std::int32_t i = 0; i < row_blocks_[row]; ++i, ++at) {
                meta.push_back(x_ + x_bytes * static_cast<std::uint32_t>(x_of_[at]));
            }
        }
        meta.insert(meta.end(), {0, 0});
        std::vector<std::uint16_t> lists;
        std::size_t before = 0;
        for (std::size_t worker = 0; worker < static_cast<std::size_t>(workers); ++worker) {
            const std::size_t own = columns / static_cast<std::size_t>(workers) +
                                    (worker < columns % static_cast<std::size_t>(workers) ? 1 : 0);
            lists.push_back(static_cast<std::uint16_t>(before));
            lists.push_back(static_cast<std::uint16_t>(own));
            before += own;
        }
        bench_.put<std::uint32_t>(state_,
                                  {out_, values_, meta_, lists_,
                                   line * static_cast<std::uint32_t>(bytes_of(types.partials)),
                                   static_cast<std::uint32_t>(row_blocks_.size() - 1)});
        bench_.put(meta_, meta);
        bench_.put(lists_, lists);
        const auto passes =
            static_cast<std::size_t>(codelets::blocks_passes(static_cast<std::int64_t>(block)));
        const std::size_t inputs = block / passes;
        std::vector<float> values;
        for (std::size_t b = 0; b < x_of_.size(); ++b) {
            for (std::size_t pass = 0; pass < passes; ++pass) {
                for (std::size_t out = 0; out < block; ++out) {
                    for (std::size_t i = 0; i < inputs; ++i) {
                        values.push_back(value(b, out, pass * inputs + i));
                    }
                }
            }
        }
        test::put_as(bench_, types.data, values_, values);
        std::vector<float> dense;
        for (std::size_t i = 0; i < 3 * columns * block; ++i) {
            dense.push_back(test::small_integer(i + 5, 3));
        }
        test::put_as(bench_, types.data, x_, dense);
        bench_.put(out_, std::vector<std::uint32_t>(2 * columns * block, 0x7fff7fffU));
    }

    tile::ComputeOutcome run() {
        return bench_.call(fmt::format("spmm_block{}_{}", block_, codelets::suffix(types_)),
                           program::VertexKind::Supervisor, state_);
    }

    std::size_t wrong() {
        std::size_t errors = 0;
        for (std::size_t row = 0, first = 0; row < row_blocks_.size(); ++row) {
            const std::size_t end = first + static_cast<std::size_t>(row_blocks_[row]);
            for (std::size_t column = 0; column < columns_; ++column) {
                for (std::size_t out = 0; out < block_; ++out) {
                    float sum = 0;
                    for (std::size_t b = first; b < end; ++b) {
                        for (std::size_t i = 0; i < block_; ++i) {
                            sum += value(b, out, i) *
                                   test::small_integer(
                                       (x_of_[b] * columns_ + column) * block_ + i + 5, 3);
                        }
                    }
                    errors += result((row * columns_ + column) * block_ + out) == sum ? 0 : 1;
                }
            }
            first = end;
        }
        return errors;
    }

    [[nodiscard]] Cycles predicted() const {
        plan::StubTimeline stub(bench_.machine(), true);
        stub.blocks(static_cast<std::int64_t>(block_), types_, static_cast<std::int64_t>(columns_),
                    row_blocks_);
        return stub.finish();
    }

private:
    [[nodiscard]] float value(std::size_t b, std::size_t out, std::size_t in) const {
        return test::small_integer((b * block_ + out) * block_ + in, 2);
    }
    float result(std::size_t at) { return test::get_as(bench_, types_.partials, out_, at); }

    std::size_t block_;
    codelets::ProductTypes types_;
    std::size_t columns_;
    test::CodeletBench bench_;
    std::vector<std::int32_t> row_blocks_ = {3, 1};
    std::vector<std::size_t> x_of_ = {0, 2, 1, 2}; ///< of each block
    Address state_ = bench_.region0_data();
    Address meta_ = bench_.region0_data() + 0x100;
    Address lists_ = bench_.region0_data() + 0x200;
    Address values_ = bench_.region0_data() + 0x1000;
    Address x_ = bench_.region0_data() + 0x4000;
    Address out_ = bench_.pair(3);
};

} // namespace

TEST_CASE("a vertex of blocks gives the exact product in the predicted cycles", "[kernels]") {
    // one worker has so many columns, or several have one more than others
    std::vector<std::pair<std::int64_t, std::size_t>> deals{{6, 5}, {6, 33}, {8, 7}, {8, 54}};
    for (std::size_t columns = 1; columns <= 12; ++columns) {
        deals.emplace_back(1, columns);
    }
    for (const std::size_t block : {4U, 8U, 16U}) {
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            if (block == 16 && types.data == ElementType::F16) {
                continue; // another vertex
            }
            for (const auto& [workers, columns] : deals) {
                for (const double steps : {0.5, 1.0, 2.0, 4.0}) {
                    CAPTURE(block, codelets::suffix(types), workers, columns, steps);
                    BlocksVertex vertex(block, types, workers, columns, steps);
                    const auto outcome = vertex.run();
                    CHECK(vertex.wrong() == 0);
                    CHECK(outcome.cycles == vertex.predicted());
                }
            }
        }
    }
}

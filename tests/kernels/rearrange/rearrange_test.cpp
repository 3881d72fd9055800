// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/rearrange/rearrange.h"
#include "kernels/workload/random.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <cstring>

namespace {

using namespace tessera;
using rearrange::Layout;

/// A place by its address: the buffer stands at address 0.
graph::Place at(Address address) {
    return {graph::BufferId{}, Bytes{address}};
}

/// Vertex state with buffers at address 0.
std::vector<std::uint32_t> words_of(const rearrange::Call& call) {
    std::vector<std::uint32_t> words;
    for (const graph::Field& field : call.state) {
        words.push_back(field.kind == graph::Field::Kind::Word
                            ? field.word
                            : static_cast<std::uint32_t>(field.place.offset));
    }
    return words;
}

Address address_of(const Layout& layout, std::int64_t row, std::int64_t column) {
    const std::int64_t line = layout.lines_are_columns ? column : row;
    const std::int64_t item = layout.lines_are_columns ? row : column;
    return static_cast<Address>(layout.place.offset) +
           static_cast<Address>(line * layout.step + item * bytes_of(layout.type));
}

void put(test::CodeletBench& bench, const Layout& layout, std::int64_t row, std::int64_t column,
         float value) {
    const Address at = address_of(layout, row, column);
    if (layout.type == ElementType::F32) {
        bench.put<float>(at, {value});
    } else {
        bench.put<std::uint16_t>(at, {f32_to_f16(value)});
    }
}

float get(test::CodeletBench& bench, const Layout& layout, std::int64_t row, std::int64_t column) {
    const Address at = address_of(layout, row, column);
    return layout.type == ElementType::F32 ? bench.get<float>(at, 1)[0]
                                           : f16_to_f32(bench.get<std::uint16_t>(at, 1)[0]);
}

float value_at(std::int64_t row, std::int64_t column) {
    return static_cast<float>(row * 37 + column + 1);
}

/// Runs the change and counts elements that are wrong; checks the predicted cycles.
int wrong_after(test::CodeletBench& bench, const Layout& from, const Layout& to) {
    for (std::int64_t row = 0; row < from.rows; ++row) {
        for (std::int64_t column = 0; column < from.columns; ++column) {
            put(bench, from, row, column, value_at(row, column));
        }
    }
    const auto calls = rearrange::change(bench.machine(), from, to);
    REQUIRE(calls.size() == 1);
    const auto& call = calls.front();
    bench.put(bench.region0_data(), words_of(call));
    const auto outcome = bench.call(call.symbol, call.kind, bench.region0_data());
    CHECK(outcome.cycles == rearrange::cycles(bench.machine(), calls));
    int wrong = 0;
    for (std::int64_t row = 0; row < from.rows; ++row) {
        for (std::int64_t column = 0; column < from.columns; ++column) {
            wrong += get(bench, to, row, column) == value_at(row, column) ? 0 : 1;
        }
    }
    return wrong;
}

Layout layout(const workload::CounterRandom& random, std::uint64_t& index, Address address,
              ElementType type, std::int64_t rows, std::int64_t columns, bool lines_are_columns) {
    Layout made{at(address), type, rows, columns, lines_are_columns, 0};
    const Bytes pad = 8 * static_cast<Bytes>(random.below(3, index++));
    made.step = (made.line_elements() * bytes_of(type) + 7) / 8 * 8 + pad;
    return made;
}

} // namespace

TEST_CASE("matrices come from any layout into any other in the predicted cycles",
          "[kernels][rearrange]") {
    const workload::CounterRandom random(1, 0);
    std::uint64_t index = 0;
    for (const std::int64_t workers : {1, 6, 8}) {
        test::CodeletBench bench({"copy", "rearrange"}, workers);
        for (int turn = 0; turn < 60; ++turn) {
            const auto rows = static_cast<std::int64_t>(2 + 2 * random.below(9, index++));
            const auto columns = static_cast<std::int64_t>(2 + 2 * random.below(9, index++));
            const bool casts = random.below(3, index++) == 0;
            const bool half = random.below(2, index++) == 0;
            const bool turned = !casts && random.below(2, index++) == 0;
            const bool first = random.below(2, index++) == 0;
            const ElementType type = half ? ElementType::F16 : ElementType::F32;
            const ElementType other = half == casts ? ElementType::F32 : ElementType::F16;
            const Layout from = layout(random, index, bench.pair(0), type, rows, columns, first);
            const Layout to =
                layout(random, index, bench.pair(2), other, rows, columns, first != turned);
            CAPTURE(workers, turn, rows, columns, casts, half, turned, first, from.step, to.step);
            CHECK(wrong_after(bench, from, to) == 0);
        }
    }
}

TEST_CASE("lines that are no multiples of 8 bytes move in words of 4", "[kernels][rearrange]") {
    test::CodeletBench bench({"copy", "rearrange"});
    const Layout from{at(bench.pair(0)), ElementType::F32, 7, 5, false, 28};
    const Layout to{at(bench.pair(1) + 4), ElementType::F32, 7, 5, false, 20};
    CHECK(rearrange::change(bench.machine(), from, to).at(0).symbol == "rearrange_lines32");
    CHECK(wrong_after(bench, from, to) == 0);
}

TEST_CASE("copies take words of 8 bytes where all three are multiples of 8",
          "[kernels][rearrange]") {
    const spec::MachineSpec machine;
    for (const Address from : {0x80000U, 0x80004U}) {
        for (const Address to : {0x90000U, 0x90004U}) {
            for (const Bytes bytes : {4, 8, 12, 48}) {
                CAPTURE(from, to, bytes);
                const bool wide = from % 8 == 0 && to % 8 == 0 && bytes % 8 == 0;
                const auto calls = rearrange::copy(machine, at(from), at(to), bytes);
                CHECK(calls.at(0).symbol == (wide ? "copy64" : "copy32"));
                const std::int64_t words = bytes / (wide ? 8 : 4);
                const auto workers = machine.tile.workers;
                CHECK(words_of(calls.at(0)) ==
                      std::vector<std::uint32_t>{from, to,
                                                 static_cast<std::uint32_t>(words / workers),
                                                 static_cast<std::uint32_t>(words % workers)});
            }
        }
    }
}

TEST_CASE("lines take words of 8 bytes where both places, both steps and the line do",
          "[kernels][rearrange]") {
    const spec::MachineSpec machine;
    const auto symbol = [&](Address from, Bytes from_step, Address to, Bytes to_step,
                            std::int64_t columns) {
        const Layout before{at(from), ElementType::F32, 3, columns, false, from_step};
        const Layout after{at(to), ElementType::F32, 3, columns, false, to_step};
        return rearrange::change(machine, before, after).at(0).symbol;
    };
    CHECK(symbol(0x80000, 32, 0x90000, 40, 6) == "rearrange_lines64");
    CHECK(symbol(0x80004, 32, 0x90000, 40, 6) == "rearrange_lines32");
    CHECK(symbol(0x80000, 28, 0x90000, 40, 6) == "rearrange_lines32");
    CHECK(symbol(0x80000, 32, 0x90004, 40, 6) == "rearrange_lines32");
    CHECK(symbol(0x80000, 32, 0x90000, 36, 6) == "rearrange_lines32");
    CHECK(symbol(0x80000, 32, 0x90000, 40, 5) == "rearrange_lines32");
    // lines that stand together before and after are one copy
    CHECK(symbol(0x80000, 24, 0x90000, 24, 6) == "copy64");
    CHECK(symbol(0x80000, 32, 0x90000, 24, 6) == "rearrange_lines64");
    CHECK(symbol(0x80000, 24, 0x90000, 32, 6) == "rearrange_lines64");
}

TEST_CASE("an odd line is refused where FP16 takes part on either side", "[kernels][rearrange]") {
    const spec::MachineSpec machine;
    for (const ElementType from : {ElementType::F16, ElementType::F32}) {
        for (const ElementType to : {ElementType::F16, ElementType::F32}) {
            for (const std::int64_t columns : {4, 5}) {
                CAPTURE(static_cast<int>(from), static_cast<int>(to), columns);
                const Layout before{at(0x80000), from, 3, columns, false, 24};
                const Layout after{at(0x90000), to, 3, columns, false, 24};
                const bool half = from == ElementType::F16 || to == ElementType::F16;
                if (half && columns % 2 != 0) {
                    CHECK_THROWS_WITH(
                        rearrange::change(machine, before, after),
                        "rearrangement: not modelled: FP16 lines of 5 elements, expected "
                        "an even number; see docs/kernels/micro.md");
                } else {
                    CHECK_NOTHROW(rearrange::change(machine, before, after));
                }
            }
        }
    }
}

TEST_CASE("a layout is changed only where that is needed", "[kernels][rearrange]") {
    const spec::MachineSpec machine;
    const Layout here{at(0x80000), ElementType::F16, 4, 6, false, 16};
    CHECK(rearrange::change(machine, here, here).empty());
    Layout dense = here;
    dense.step = 12;
    Layout elsewhere = dense;
    elsewhere.place = at(0x90000);
    CHECK(rearrange::change(machine, dense, elsewhere).at(0).symbol == "copy64");
    Layout turned_cast = here;
    turned_cast.lines_are_columns = true;
    turned_cast.type = ElementType::F32;
    CHECK_THROWS_AS(rearrange::change(machine, here, turned_cast), NotModelled);
    CHECK_THROWS_WITH(rearrange::change(machine, here, turned_cast),
                      "rearrangement: not modelled: a vertex that casts and transposes; see "
                      "docs/kernels/micro.md");
    Layout odd = here;
    odd.columns = 5;
    Layout odd_elsewhere = odd;
    odd_elsewhere.place = at(0x90000);
    CHECK_THROWS_AS(rearrange::change(machine, odd, odd_elsewhere), NotModelled);
}

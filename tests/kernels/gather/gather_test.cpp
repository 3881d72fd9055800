// SPDX-License-Identifier: MIT
// gather: rows are those that the list names, however the table is divided; no cycle depends on the
// list.
#include "kernels/codelets/gather_rows_cost.h"
#include "kernels/gather/gather.h"
#include "kernels/gather/remote_rows.h"
#include "kernels/graph/places.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/family/matrix_step.h"

#include <map>
#include <numeric>

namespace {

using namespace tessera;
using Ids = std::vector<std::uint32_t>;

using Shape = std::vector<std::int64_t>;

/// Of any shape, or a list.
family::Value ids_value(const Ids& ids, Shape shape = {}) {
    if (shape.empty()) {
        shape = {static_cast<std::int64_t>(ids.size())};
    }
    family::Value value{{ElementType::U32, std::move(shape)}, {}, false};
    const auto bytes = std::as_bytes(std::span(ids));
    value.bytes.assign(bytes.begin(), bytes.end());
    return value;
}

struct Gathered {
    family::Checked checked;
    family::Value y;
    Cycles cycles = 0;
    std::size_t steps = 0; ///< compute sets and exchanges
};

/// A row's bytes.
std::vector<std::byte> row_of(const family::Value& matrix, std::int64_t row) {
    const Bytes bytes = matrix.type.shape.back() * bytes_of(matrix.type.type);
    const auto first = matrix.bytes.begin() + row * bytes;
    return {first, first + bytes};
}

Gathered gathered(const spec::MachineSpec& machine, const family::Value& table, const Ids& list,
                  Shape shape = {}) {
    const family::Value ids = ids_value(list, std::move(shape));
    const auto step = gather::family().make({{table.type, ids.type}, {}});
    graph::Graph graph("test");
    exchange_plan::KnownSchedules known;
    const family::Site site{machine, known, 0, "step"};
    const std::array<std::optional<graph::TensorId>, 2> nowhere;
    auto emitted = step->emit(graph, site, nowhere);
    graph.control = std::move(emitted.steps);
    for (const graph::TensorId input : emitted.inputs) {
        graph.tensors[input.index].given = true;
    }
    graph.tensors[emitted.outputs.at(0).index].wanted = true;
    CHECK(test::loose_buffers(graph) == std::vector<std::string>{});
    const auto program = lower::lower(machine, std::move(graph)).program;
    CHECK(test::faults_of(machine, program).empty());
    const auto outcome = test::run_program(
        machine, program,
        std::map<std::string, std::vector<std::byte>>{{"table", table.bytes}, {"ids", ids.bytes}});
    Gathered made;
    made.y = {step->outputs().front(), outcome.tensors.at("y"), false};
    made.checked = step->check(std::array{&table, &ids}, {&made.y, 1}, 1);
    made.cycles =
        std::accumulate(outcome.step_cycles.begin(), outcome.step_cycles.end(), Cycles{0});
    made.steps = outcome.step_cycles.size();
    return made;
}

/// Lists of `count` numbers over `rows` rows: any, all the same, none of the table, each in turn.
std::vector<Ids> lists_of(std::int64_t count, std::int64_t rows) {
    const workload::CounterRandom random(7, 1);
    const auto last = static_cast<std::uint32_t>(rows - 1);
    Ids any;
    Ids empty;
    Ids full;
    for (std::int64_t i = 0; i < count; ++i) {
        any.push_back(static_cast<std::uint32_t>(
            random.below(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(i))));
        empty.push_back(i % 2 == 0 ? last + 1 : 0xffffffffU);
        full.push_back(static_cast<std::uint32_t>(i % rows));
    }
    return {any, Ids(static_cast<std::size_t>(count), 0),
            Ids(static_cast<std::size_t>(count), last), empty, full};
}

} // namespace

TEST_CASE("a gather of any shape has the rows of its list, in cycles that do not depend on it",
          "[kernels][gather]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const auto& [rows, columns, count] :
             std::initializer_list<std::array<std::int64_t, 3>>{
                 {1, 1, 1}, {7, 3, 5}, {40, 8, 13}, {64, 33, 40}, {300, 4, 90}, {5, 200, 2}}) {
            for (const std::int64_t tiles : {2, 6, 16}) {
                CAPTURE(name_of(type), rows, columns, count, tiles);
                const auto machine = test::machine_of(tiles);
                const auto table = test::random_value({type, {rows, columns}}, 4, 5);
                std::optional<Cycles> cycles;
                for (const Ids& list : lists_of(count, rows)) {
                    const Gathered made = gathered(machine, table, list);
                    INFO(made.checked.sentence);
                    CHECK(made.checked.passed);
                    CHECK(made.checked.elements == count * columns);
                    CHECK(made.cycles == cycles.value_or(made.cycles));
                    cycles = made.cycles;
                }
            }
        }
    }
}

TEST_CASE("a table that no tile holds is divided by rows and its parts are joined",
          "[kernels][gather]") {
    auto machine = test::machine_of(8);
    machine.memory.region0_bytes = 131'072;
    machine.memory.region1_bytes = 131'072;
    const std::int64_t rows = 60'000;
    const auto table = test::random_value({ElementType::F16, {rows, 4}}, 4, 5);
    for (const Ids& list : lists_of(50, rows)) {
        const Gathered made = gathered(machine, table, list);
        INFO(made.checked.sentence);
        CHECK(made.checked.passed);
        CHECK(made.steps > 3); // row numbers, rows, parts of rows, joined
    }
}

TEST_CASE("a wrong row is told", "[kernels][gather]") {
    const auto table = test::random_value({ElementType::F32, {9, 4}}, 4, 5);
    const family::Value ids = ids_value({3, 8, 9});
    const auto step = gather::family().make({{table.type, ids.type}, {}});
    Gathered made = gathered(test::machine_of(4), table, {3, 8, 9});
    made.y.bytes[2 * 16] ^= std::byte{1}; // the row of a number that names none
    const auto checked = step->check(std::array{&table, &ids}, {&made.y, 1}, 1);
    CHECK(!checked.passed);
    CHECK(checked.failed_elements == 4);
    CHECK(checked.sentence.find("row 2") != std::string::npos);
}

TEST_CASE("of several tables each has rows by its own share of the list", "[kernels][gather]") {
    for (const auto& [groups, rows, columns, share] :
         std::initializer_list<std::array<std::int64_t, 4>>{
             {2, 7, 3, 5}, {5, 40, 8, 4}, {12, 16, 1, 3}, {3, 9, 200, 1}}) {
        for (const std::int64_t tiles : {2, 6, 16}) {
            CAPTURE(groups, rows, columns, share, tiles);
            const auto table =
                test::random_value({ElementType::F16, {groups, rows, columns}}, 4, 5);
            const auto row_bytes = static_cast<std::size_t>(2 * columns);
            std::optional<Cycles> cycles;
            for (const Ids& list : lists_of(groups * share, rows)) {
                const Gathered made =
                    gathered(test::machine_of(tiles), table, list, {groups, 1, share});
                INFO(made.checked.sentence);
                CHECK(made.checked.passed);
                CHECK(made.y.type.shape == std::vector{groups, share, columns});
                for (std::int64_t i = 0; i < groups * share; ++i) {
                    const std::int64_t number = list[static_cast<std::size_t>(i)];
                    CHECK(row_of(made.y, i) == (number < rows
                                                    ? row_of(table, i / share * rows + number)
                                                    : std::vector<std::byte>(row_bytes)));
                }
                CHECK(made.cycles == cycles.value_or(made.cycles));
                cycles = made.cycles;
            }
        }
    }
}

TEST_CASE("a gather refuses what is no table or no list", "[kernels][gather]") {
    const family::TensorType table{ElementType::F16, {8, 4}};
    const family::TensorType ids{ElementType::U32, {3}};
    const auto refused = [&](const family::TensorType& first, const family::TensorType& second) {
        try {
            static_cast<void>(gather::family().make({{first, second}, {}}));
        } catch (const family::Refused& refusal) {
            return refusal.input;
        }
        return -1;
    };
    CHECK(refused(table, ids) == -1);
    CHECK(refused({ElementType::F16, {8}}, ids) == 0);
    CHECK(refused({ElementType::F143, {8, 4}}, ids) == 0);
    CHECK(refused(table, {ElementType::F32, {3}}) == 1);
    CHECK(refused(table, {ElementType::U32, {0}}) == 1);
    const family::TensorType tables{ElementType::F16, {2, 8, 4}};
    CHECK(refused(tables, {ElementType::U32, {1, 2, 3}}) == -1);
    CHECK(refused(tables, {ElementType::U32, {3, 2}}) == 1);
    CHECK(refused(tables, ids) == 1);
}

TEST_CASE("a gather has the shape of its list, and of several tables that of the tables",
          "[kernels][gather]") {
    const auto shape_of = [](const Shape& table, const Shape& ids) {
        return gather::family()
            .make({{{ElementType::F16, table}, {ElementType::U32, ids}}, {}})
            ->outputs()
            .front()
            .shape;
    };
    CHECK(shape_of({8, 4}, {3}) == Shape{3, 4});
    CHECK(shape_of({8, 4}, {2, 5}) == Shape{2, 5, 4});
    CHECK(shape_of({8, 4}, {2, 1, 5}) == Shape{2, 1, 5, 4});
    CHECK(shape_of({1, 8, 4}, {1, 6}) == Shape{1, 6, 4}); // one table, given as several
    CHECK(shape_of({2, 8, 4}, {2, 3}) == Shape{2, 3, 4});
    CHECK(shape_of({2, 3, 8, 4}, {2, 3, 5}) == Shape{2, 3, 5, 4});
}

TEST_CASE("rows of tables outside the tiles come in copies, in whole rows or requests",
          "[kernels][gather]") {
    struct Case {
        std::int64_t groups;
        std::int64_t table_rows;
        std::int64_t numbers;
        std::int64_t columns; ///< of F32
        std::int64_t tiles;
        Bytes copy_limit;
        std::size_t copies;
        Bytes grain; ///< where a tile's run of the copy's bytes may begin
    };
    const Bytes whole = 1 << 20;
    const std::vector<Case> cases{
        {1, 5, 1, 2, 1, whole, 1, 8},
        {1, 5, 7, 2, 4, whole, 1, 8},
        {3, 5, 7, 6, 4, whole, 1, 24},
        {3, 5, 4, 6, 5, 24 * 5, 3, 24},     // 12 rows, 5 a copy
        {3, 5, 4, 6, 5, 24 * 5 - 1, 3, 24}, // 4 a copy
        {3, 5, 4, 6, 5, 24 * 3, 4, 24},
        {1, 9, 6, 6, 2, 23, 6, 24},    // not one row fits the limit: one a copy
        {2, 5, 9, 1, 4, whole, 1, 64}, // rows are no units: they come in requests
        {2, 5, 9, 3, 4, 12 * 6, 3, 64},
        {2, 5, 3, 256, 4, whole, 1, 1024}, // the longest row that comes whole
        {2, 5, 3, 258, 4, whole, 1, 64},
        {2, 5, 3, 258, 3, 2 * 1032, 3, 64}};
    for (const Case& one : cases) {
        CAPTURE(one.groups, one.numbers, one.columns, one.tiles, one.copy_limit);
        spec::MachineSpec machine = test::machine_of(one.tiles);
        machine.streaming.copy_limit_bytes = one.copy_limit;
        const Bytes row_bytes = 4 * one.columns;
        const family::Value table =
            test::random_value({ElementType::F32, {one.groups * one.table_rows, one.columns}}, 3);
        Ids list;
        for (std::int64_t i = 0; i < one.groups * one.numbers; ++i) {
            list.push_back(static_cast<std::uint32_t>((i * i + 2 * i) % one.table_rows));
        }
        const family::Value ids = ids_value(list, {one.groups, one.numbers});

        graph::Graph graph("test");
        graph.remote_buffers.push_back({"table", program::RemoteBuffer::Place::StreamingMemory,
                                        one.groups * one.table_rows, row_bytes});
        const graph::TensorId ids_stand = graph::add_runs(
            graph, {0, one.tiles},
            {.name = "ids", .type = ids.type.type, .shape = ids.type.shape, .given = true}, 8);
        exchange_plan::KnownSchedules known;
        family::Site site{machine, known, 0, "step"};
        site.remote = 0;
        auto emitted =
            gather::read_remote_rows(graph, site,
                                     {one.groups,
                                      one.table_rows,
                                      one.numbers,
                                      {ElementType::F32, {one.groups, one.numbers, one.columns}}},
                                     ids_stand, ids.type);
        CHECK(emitted.inputs.at(1) == ids_stand);
        graph.tensors[emitted.outputs.at(0).index].wanted = true;
        graph.control = std::move(emitted.steps);

        CHECK(graph.stream_copies.size() == one.copies);
        std::int64_t rows = 0;
        for (const graph::StreamCopy& copy : graph.stream_copies) {
            CHECK((copy.rows * row_bytes <= one.copy_limit || copy.rows == 1));
            rows += copy.rows;
            std::map<TileId, std::int64_t> numbers;
            for (const graph::RowNumbers& some : copy.rows_from) {
                CHECK(some.below == one.table_rows); // no number leads out of its table
                CHECK(some.base % one.table_rows == 0);
                numbers[some.tile] += some.count;
            }
            std::map<TileId, std::int64_t> pieces;
            std::map<TileId, Bytes> begins;
            for (const graph::StreamPiece& piece : copy.pieces) {
                ++pieces[piece.tile]; // a row's, with one number for each
                begins.try_emplace(piece.tile, piece.offset);
                CHECK(piece.offset / row_bytes == (piece.offset + piece.bytes - 1) / row_bytes);
            }
            CHECK(pieces == numbers);
            for (const auto& [tile, begin] : begins) {
                CHECK(begin % one.grain == 0);
            }
        }
        CHECK(rows == one.groups * one.numbers);

        const auto program = lower::lower(machine, std::move(graph)).program;
        CHECK(test::faults_of(machine, program).empty());
        const auto outcome = test::run_program(
            machine, program,
            {{program::remote_buffer(0), table.bytes}, {program::tensor(0), ids.bytes}});
        std::vector<std::byte> wanted;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto group = static_cast<std::int64_t>(i) / one.numbers;
            const auto row = row_of(table, group * one.table_rows + list[i]);
            wanted.insert(wanted.end(), row.begin(), row.end());
        }
        CHECK(outcome.tensors.at("y") == wanted);
    }
}

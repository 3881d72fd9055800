// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/copy_gathers.h"
#include "kernels/lower/lower.h"
#include "kernels/workload/random.h"
#include "models/isa/machine_target.h"
#include "models/spec/machine_spec.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <span>

namespace {

using namespace tessera;

spec::MachineSpec small_machine(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

/// Deals a matrix out in blocks of random sizes to random tiles, each in one of two orders, with
/// random gaps around it.
class Dealer {
public:
    Dealer(graph::Graph& graph, std::int64_t tiles, std::uint64_t seed)
        : graph_(graph), tiles_(tiles), random_(seed, 0) {}

    graph::TensorId deal(const std::string& name, ElementType type, std::int64_t rows,
                         std::int64_t columns) {
        buffer_ = graph_.add_buffer({.name = "memory of " + name});
        held_.assign(static_cast<std::size_t>(tiles_), 0);
        graph::Tensor tensor{.name = name, .type = type, .shape = {rows, columns}};
        const std::int64_t height = 1 + next(rows);
        const std::int64_t width = 1 + next(columns);
        for (std::int64_t row = 0; row < rows; row += height) {
            for (std::int64_t column = 0; column < columns; column += width) {
                add_block(tensor, row, std::min(height, rows - row), column,
                          std::min(width, columns - column));
            }
        }
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            graph_.hold(buffer_, static_cast<TileId>(tile),
                        (held_[static_cast<std::size_t>(tile)] + 15) / 16 * 16);
        }
        return graph_.add_tensor(std::move(tensor));
    }
    std::int64_t next(std::int64_t below) {
        return static_cast<std::int64_t>(
            random_.below(static_cast<std::uint64_t>(below), index_++));
    }

private:
    void add_block(graph::Tensor& tensor, std::int64_t row, std::int64_t rows, std::int64_t column,
                   std::int64_t columns) {
        const Bytes element = bytes_of(tensor.type);
        const auto tile = static_cast<TileId>(next(tiles_));
        Bytes& held = held_[tile];
        held += element * next(4);
        const bool turned = next(2) == 1;
        const std::int64_t lines = turned ? columns : rows;
        const Bytes line = element * ((turned ? rows : columns) + next(3));
        graph::Piece piece{.tile = tile,
                           .place = {buffer_, held},
                           .host_offset = row * tensor.shape[1] + column,
                           .dims = {}};
        const program::PieceDim down{rows, tensor.shape[1], turned ? element : line};
        const program::PieceDim across{columns, 1, turned ? line : element};
        piece.dims = turned ? std::vector{across, down} : std::vector{down, across};
        tensor.pieces.push_back(piece);
        held += lines * line;
    }

    graph::Graph& graph_;
    std::int64_t tiles_;
    workload::CounterRandom random_;
    std::uint64_t index_ = 0;
    graph::BufferId buffer_;
    std::vector<Bytes> held_;
};

/// Bytes that differ in any two elements nearby.
std::vector<std::byte> numbered(std::int64_t elements, Bytes element_bytes) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(elements * element_bytes));
    for (std::int64_t i = 0; i < elements; ++i) {
        const auto value = static_cast<std::uint32_t>(i + 1);
        std::memcpy(bytes.data() + i * element_bytes, &value,
                    static_cast<std::size_t>(element_bytes));
    }
    return bytes;
}

} // namespace

TEST_CASE("a copy brings every element from any placement to any other", "[kernels][copy]") {
    const ElementType type = GENERATE(ElementType::F143, ElementType::F16, ElementType::F32);
    const std::int64_t tiles = GENERATE(1, 2, 6);
    const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 13)));
    CAPTURE(tiles, seed);
    auto machine = small_machine(tiles);
    machine.tile.workers = 1 + static_cast<std::int64_t>(seed % 6);
    graph::Graph graph("copy");
    Dealer dealer(graph, tiles, seed);
    const std::int64_t rows = 1 + dealer.next(13);
    const std::int64_t columns = 1 + dealer.next(40);
    const auto from = dealer.deal("from", type, rows, columns);
    const auto to = dealer.deal("to", type, rows, columns);
    graph.tensors[from.index].given = true;
    graph.tensors[to.index].wanted = true;
    graph.control = graph::sequence(
        {graph::add_copy(graph, machine, from, to, program::Role::Rearrange, "test")});
    const auto lowered = lower::lower(machine, std::move(graph));
    CHECK(test::faults_of(machine, lowered.program).empty());
    const auto bytes = numbered(rows * columns, bytes_of(type));
    const auto outcome = test::run_program(
        machine, lowered.program, std::map<std::string, std::vector<std::byte>>{{"from", bytes}});
    CHECK(outcome.tensors.at("to") == bytes);
}

namespace {

/// A matrix as products read it: 16 neighbours of a row, or of a column, stand together, behind them those of
/// the next column or row. Tiles have as many of these lines as it comes, or squares of them in the order of
/// weights.
graph::TensorId deal_lines(graph::Graph& graph, const std::string& name, bool is_by_rows,
                           bool is_weights, std::int64_t rows, std::int64_t columns,
                           std::int64_t tiles, std::uint64_t seed) {
    constexpr std::int64_t kSide = 16;
    constexpr Bytes kLine = 32;
    const workload::CounterRandom random(seed, 3);
    std::uint64_t drawn = 0;
    const auto buffer = graph.add_buffer({.name = name});
    std::map<TileId, Bytes> held;
    graph::Tensor tensor{.name = name, .type = ElementType::F16, .shape = {rows, columns}};
    const std::int64_t along = is_by_rows ? 1 : columns; // host stride of neighbours
    const std::int64_t across = is_by_rows ? columns : 1;
    const std::int64_t length = is_by_rows ? columns : rows;
    const std::int64_t lines = is_by_rows ? rows : columns;
    const auto tile_at = [&] {
        return static_cast<TileId>(random.below(static_cast<std::uint64_t>(tiles), drawn++));
    };
    for (std::int64_t first = 0; first < length; first += kSide) {
        const std::int64_t neighbours = std::min(kSide, length - first);
        for (std::int64_t line = 0; line < lines;) {
            const std::int64_t most = is_weights ? kSide : 40;
            const std::int64_t here = std::min(
                lines - line, is_weights ? kSide
                                         : 1 + static_cast<std::int64_t>(random.below(
                                                   static_cast<std::uint64_t>(most), drawn++)));
            const TileId tile = tile_at();
            for (std::int64_t i = 0; i < here; ++i) {
                const Bytes offset =
                    is_weights ? (i >> 2) * 2 * kLine + (i >> 1 & 1) * 8 * kLine + (i & 1) * kLine
                               : i * kLine;
                tensor.pieces.push_back({tile,
                                         {buffer, held[tile] + offset},
                                         first * along + (line + i) * across,
                                         {{neighbours, along, 2}}});
            }
            held[tile] += (is_weights ? kSide : here) * kLine;
            line += here;
        }
    }
    for (const auto& [tile, bytes] : held) {
        graph.hold(buffer, tile, bytes);
    }
    return graph.add_tensor(std::move(tensor));
}

} // namespace

TEST_CASE("neighbours of rows become neighbours of columns, in squares that are turned",
          "[kernels][copy]") {
    const std::int64_t tiles = 5;
    const auto machine = small_machine(tiles);
    std::uint64_t seed = 1;
    for (const bool is_by_rows : {true, false}) {
        for (const bool from_weights : {true, false}) {
            for (const bool to_weights : {true, false}) {
                for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{16, 16},
                                                    {15, 48},
                                                    {64, 48},
                                                    {70, 53},
                                                    {33, 16}}) {
                    CAPTURE(is_by_rows, from_weights, to_weights, rows, columns);
                    graph::Graph graph("turn");
                    const auto from = deal_lines(graph, "from", is_by_rows, from_weights, rows,
                                                 columns, tiles, ++seed);
                    const auto to = deal_lines(graph, "to", !is_by_rows, to_weights, rows, columns,
                                               tiles, ++seed);
                    graph.tensors[from.index].given = true;
                    graph.tensors[to.index].wanted = true;
                    graph.control = graph::sequence({graph::add_copy(
                        graph, machine, from, to, program::Role::Rearrange, "test")});
                    CHECK(graph.tensors.size() == 2);
                    const bool is_turned = std::find(graph.symbols.begin(), graph.symbols.end(),
                                                     "turn_f16") != graph.symbols.end();
                    CHECK(is_turned == (rows % 16 == 0 && columns % 16 == 0));
                    const auto lowered = lower::lower(machine, std::move(graph));
                    CHECK(test::faults_of(machine, lowered.program).empty());
                    const auto bytes = numbered(rows * columns, 2);
                    const auto outcome = test::run_program(
                        machine, lowered.program,
                        std::map<std::string, std::vector<std::byte>>{{"from", bytes}});
                    CHECK(outcome.tensors.at("to") == bytes);
                }
            }
        }
    }
}

TEST_CASE("words that several tiles want travel once", "[kernels][copy]") {
    const std::int64_t tiles = 6;
    const auto machine = small_machine(tiles);
    graph::Graph graph("spread");
    const auto home = graph.add_buffer({.name = "home"});
    const auto copies = graph.add_buffer({.name = "copies"});
    graph.hold(home, 0, 64);
    graph::Tensor one = graph::array_tensor("one", ElementType::F16, 32);
    one.pieces.push_back(graph::run_of(0, {home}, 0, 32, ElementType::F16));
    one.given = true;
    graph::Tensor all = graph::array_tensor("all", ElementType::F16, 32);
    for (TileId tile = 1; tile < tiles; ++tile) {
        graph.hold(copies, tile, 64);
        all.pieces.push_back(graph::run_of(tile, {copies}, 0, 32, ElementType::F16));
    }
    const auto from = graph.add_tensor(std::move(one));
    for (TileId tile = 1; tile < tiles; ++tile) {
        auto there = graph::array_tensor("at " + std::to_string(tile), ElementType::F16, 32);
        there.pieces = {all.pieces[tile - 1]};
        there.wanted = true;
        graph.add_tensor(std::move(there));
    }
    const auto to = graph.add_tensor(std::move(all));
    graph.control =
        graph::add_copy(graph, machine, from, to, program::Role::Bring, "test", "bring");
    REQUIRE(graph.exchanges.size() == 1);
    CHECK(graph.exchanges[0].messages.size() == 1);
    CHECK(graph.exchanges[0].messages[0].receivers == tiles - 1);
    CHECK(graph.exchanges[0].name == "bring all");
    const auto lowered = lower::lower(machine, std::move(graph));
    const auto bytes = numbered(32, 2);
    const auto outcome = test::run_program(
        machine, lowered.program, std::map<std::string, std::vector<std::byte>>{{"one", bytes}});
    for (TileId tile = 1; tile < tiles; ++tile) {
        CHECK(outcome.tensors.at("at " + std::to_string(tile)) == bytes);
    }
}

TEST_CASE("a tile that wants the same words at two places gets them in two messages",
          "[kernels][copy]") {
    const auto machine = small_machine(3);
    graph::Graph graph("twice");
    const auto home = graph.add_buffer({.name = "home"});
    const auto copies = graph.add_buffer({.name = "copies"});
    graph.hold(home, 0, 16);
    graph::Tensor one = graph::array_tensor("one", ElementType::F16, 8);
    one.pieces.push_back(graph::run_of(0, {home}, 0, 8, ElementType::F16));
    one.given = true;
    graph::Tensor all = graph::array_tensor("all", ElementType::F16, 8);
    const std::vector<graph::Receiver> places{
        {1, {copies, 0}}, {1, {copies, 16}}, {2, {copies, 0}}};
    graph.hold(copies, 1, 32);
    graph.hold(copies, 2, 16);
    const auto from = graph.add_tensor(std::move(one));
    for (const graph::Receiver& place : places) {
        all.pieces.push_back(graph::run_of(place.tile, place.to, 0, 8, ElementType::F16));
        auto there =
            graph::array_tensor("there " + std::to_string(all.pieces.size()), ElementType::F16, 8);
        there.pieces = {all.pieces.back()};
        there.wanted = true;
        graph.add_tensor(std::move(there));
    }
    const auto to = graph.add_tensor(std::move(all));
    graph.control = graph::add_copy(graph, machine, from, to, program::Role::Bring, "test");
    REQUIRE(graph.exchanges.size() == 1);
    for (const auto& message : graph.exchanges[0].messages) {
        const auto receivers =
            std::span(graph.exchanges[0].to).subspan(message.first_to, message.receivers);
        std::set<TileId> tiles;
        for (const auto& receiver : receivers) {
            tiles.insert(receiver.tile);
        }
        CHECK(tiles.size() == receivers.size());
    }
    const auto lowered = lower::lower(machine, std::move(graph));
    const auto bytes = numbered(8, 2);
    const auto outcome = test::run_program(
        machine, lowered.program, std::map<std::string, std::vector<std::byte>>{{"one", bytes}});
    for (const char* name : {"there 1", "there 2", "there 3"}) {
        CHECK(outcome.tensors.at(name) == bytes);
    }
}

TEST_CASE("words between words of halves are gathered with them, words beside them move",
          "[kernels][copy]") {
    using graph::At;
    using graph::Atom;
    const auto here = [](std::uint32_t offset) { return At{0, 0, offset}; };
    const auto there = [](std::uint32_t offset) { return At{0, 1, offset}; };
    // halves that come from odd places make words 2 and 4 of the destination
    const std::vector<Atom> halves{{here(102), there(8), 4}, {here(202), there(16), 4}};
    const auto with = [&](const Atom& move) {
        std::vector<Atom> atoms = halves;
        atoms.push_back(move);
        return graph::in_words(atoms, {}, 1000);
    };
    const auto moved = [&](std::uint32_t to, std::uint32_t bytes) {
        const auto words = with({here(400), there(to), bytes});
        REQUIRE(words.gathers.size() == 1);
        return words.moves.size();
    };
    CHECK(moved(0, 8) == 1);  // ends where the first half begins
    CHECK(moved(20, 8) == 1); // begins where the last half ends
    CHECK(moved(12, 4) == 0); // between them
    // the same in another buffer or on another tile is no neighbour
    CHECK(with({here(400), At{0, 2, 12}, 4}).moves.size() == 1);
    CHECK(with({here(400), At{1, 1, 12}, 4}).moves.size() == 1);
    // a move of several words whose first or last word alone lies between
    const auto reach = [&](std::uint32_t to) {
        const std::vector<Atom> wide{{here(102), there(8), 2}, {here(202), there(38), 2}};
        std::vector<Atom> atoms = wide;
        atoms.push_back({here(400), there(to), 8});
        return graph::in_words(atoms, {}, 1000).moves.size();
    };
    CHECK(reach(0) == 1);
    CHECK(reach(12) == 0);
    CHECK(reach(28) == 0);
    CHECK(reach(40) == 1);
    CHECK(reach(4) == 0);  // its last word holds the first half
    CHECK(reach(36) == 0); // its first word holds the last half
}

TEST_CASE("what stands where it shall takes no step", "[kernels][copy]") {
    const auto machine = small_machine(2);
    graph::Graph graph("nothing");
    Dealer dealer(graph, 2, 3);
    const auto from = dealer.deal("from", ElementType::F16, 4, 8);
    graph::Tensor same = graph.tensors[from.index];
    same.name = "to";
    const auto to = graph.add_tensor(std::move(same));
    CHECK(graph::add_copy(graph, machine, from, to, program::Role::Rearrange, "test")
              .children.empty());
}

TEST_CASE("a copy that cannot be is a mistake that names both tensors", "[kernels][copy]") {
    const auto machine = small_machine(2);
    graph::Graph graph("mistakes");
    Dealer dealer(graph, 2, 5);
    const auto from = dealer.deal("left", ElementType::F16, 4, 8);
    const auto turned = dealer.deal("turned", ElementType::F16, 8, 4);
    const auto wide = dealer.deal("wide", ElementType::F32, 4, 8);
    const auto whole = dealer.deal("whole", ElementType::F16, 4, 8);
    const auto copy = [&](graph::TensorId a, graph::TensorId b) {
        static_cast<void>(graph::add_copy(graph, machine, a, b, program::Role::Rearrange, "test"));
    };
    using Catch::Matchers::Contains;
    CHECK_THROWS_WITH(copy(from, turned),
                      Contains("'left'") && Contains("'turned'") && Contains("4 x 8"));
    CHECK_THROWS_WITH(copy(from, wide), Contains("'left'") && Contains("f32"));
    CHECK_THROWS_WITH(copy(from, turned), "program 'mistakes': kernel 'test', rearrange of 'left' "
                                          "to 'turned': got f16 of 4 x 8, expected f16 of 8 x 4");
    // the first element that is missing, wherever in a run it is wanted
    for (const std::int64_t there : {0, 5, 31}) {
        graph::Tensor part{.name = "part", .type = ElementType::F16, .shape = {4, 8}};
        part.pieces.push_back(
            graph::run_of(0, graph.tensors[whole.index].pieces[0].place, 0, there, part.type));
        CHECK_THROWS_WITH(copy(graph.add_tensor(std::move(part)), whole),
                          "program 'mistakes': kernel 'test', rearrange of 'part' to 'whole': "
                          "element " +
                              std::to_string(there) + " of 'part' stands on no tile");
    }
}

namespace {

/// A copy on one tile of `runs` runs of so many words each, that lie apart on both sides.
struct ApartRuns {
    graph::Graph graph{"runs"};
    std::vector<std::byte> list; ///< of the run list, if one was made

    ApartRuns(const spec::MachineSpec& machine, std::int64_t runs, Bytes run_bytes, Bytes gap) {
        const std::int64_t elements = run_bytes / 4;
        const auto tensor = [&](const std::string& name, Bytes first) {
            const auto buffer = graph.add_buffer({.name = name});
            graph.hold(buffer, 0, first + runs * (run_bytes + gap));
            graph::Tensor made = graph::array_tensor(name, ElementType::F32, runs * elements);
            for (std::int64_t run = 0; run < runs; ++run) {
                made.pieces.push_back(graph::run_of(0, {buffer, first + run * (run_bytes + gap)},
                                                    run * elements, elements, ElementType::F32));
            }
            return graph.add_tensor(std::move(made));
        };
        const auto from = tensor("from", 0);
        const auto to = tensor("to", gap);
        graph.tensors[from.index].given = true;
        graph.tensors[to.index].wanted = true;
        graph.control = graph::sequence(
            {graph::add_copy(graph, machine, from, to, program::Role::Rearrange, "test")});
        for (const graph::Buffer& buffer : graph.buffers) {
            if (buffer.name == "rearrange to: list") {
                list = *buffer.held.at(0).contents;
            }
        }
    }
};

} // namespace

TEST_CASE("three runs on a tile and more are one vertex with a list, fewer a vertex each",
          "[kernels][copy]") {
    const auto machine = small_machine(1);
    const Bytes gap = GENERATE(4, 8); // words or double words
    for (const std::int64_t runs : {1, 2, 3, 4}) {
        ApartRuns made(machine, runs, 64, gap);
        const auto& vertices = made.graph.compute_sets.at(0).vertices;
        CAPTURE(runs, gap);
        const bool listed = runs >= 3;
        const std::string codelet = listed ? "copy_runs" : "copy";
        REQUIRE(static_cast<std::int64_t>(vertices.size()) == (listed ? 1 : runs));
        CHECK(made.graph.symbols[vertices[0].symbol] == codelet + (gap == 4 ? "32" : "64"));
        CHECK(static_cast<std::int64_t>(made.list.size()) == (listed ? runs * 3 * 4 : 0));
        if (listed) { // the list counts from where both buffers begin
            const auto fields = made.graph.fields_of(vertices[0].fields);
            CHECK(fields[0].place == graph::Place{graph::BufferId{0}, 0});
            CHECK(fields[1].place == graph::Place{graph::BufferId{1}, 0});
        }
    }
}

TEST_CASE("a list's runs are cut where a loop ends, and have no empty ones", "[kernels][copy]") {
    auto machine = small_machine(1);
    const std::int64_t most = isa::target_of(machine).repeat_count_mask();
    const Bytes gap = GENERATE(4, 8);
    constexpr std::int64_t kRuns = 3;
    for (const std::int64_t words : {most - 1, most, most + 1, 2 * most, 2 * most + 1}) {
        CAPTURE(words, gap);
        const Bytes run_bytes = words * gap;
        ApartRuns made(machine, kRuns, run_bytes, gap);
        REQUIRE(static_cast<std::int64_t>(made.list.size()) ==
                kRuns * ((words + most - 1) / most) * 3 * 4);
        std::vector<std::uint32_t> list(made.list.size() / 4);
        std::memcpy(list.data(), made.list.data(), made.list.size());
        std::int64_t sum = 0;
        for (std::size_t entry = 0; entry < list.size(); entry += 3) {
            CHECK(list[entry] + gap == list[entry + 1]);
            CHECK(list[entry + 2] >= 1);
            CHECK(list[entry + 2] <= most);
            sum += list[entry + 2];
        }
        CHECK(sum == kRuns * words);
    }
}

TEST_CASE("a copy of a known tensor is known, and main registers carry it", "[kernels]") {
    for (const bool known : {false, true}) {
        CAPTURE(known);
        graph::Graph graph("test");
        const auto tensor = [&](const char* name, TileId first) {
            const auto buffer = graph.add_buffer({.name = name});
            graph::Tensor made = graph::array_tensor(name, ElementType::U32, 40);
            for (TileId tile = 0; tile < 2; ++tile) {
                graph.hold(buffer, tile, 96);
                for (std::int64_t run = 0; run < 4; ++run) { // so many that a list would be made
                    made.pieces.push_back(graph::run_of((tile + first) % 2, {buffer, 24 * run},
                                                        20 * tile + 5 * run, 5, ElementType::U32));
                }
            }
            return graph.add_tensor(std::move(made));
        };
        const auto from = tensor("from", 0);
        const auto to = tensor("to", 0);
        graph.tensors[from.index].known = known;
        static_cast<void>(
            graph::add_copy(graph, small_machine(2), from, to, program::Role::Rearrange, "test"));
        CHECK(graph.tensors[to.index].known == known);
        const bool by_main = std::find(graph.codelets.begin(), graph.codelets.end(),
                                       "copy_known") != graph.codelets.end();
        CHECK(by_main == known);
        CHECK(graph.codelets.size() == 1);
    }
}

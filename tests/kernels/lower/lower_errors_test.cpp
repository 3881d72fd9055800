// SPDX-License-Identifier: MIT
#include "kernels/lower/check.h"
#include "kernels/lower/lower.h"
#include "models/spec/machine_spec.h"
#include "tests/kernels/graph/graph_sketch.h"

#include <string>
#include <vector>

namespace {

using namespace tessera;
using Catch::Matchers::Contains;
using graph::Access;
using graph::pointer;
using graph::read;
using graph::use;
using graph::word;
using graph::write;
using test::Sketch;

constexpr TileId kTile = 3;
constexpr TileId kOther = 5;
constexpr Bytes kBytes = 64;

/// What `lower` says of it on a machine of so many tiles.
std::string refusal(const Sketch& sketch, std::int64_t tiles = 8) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    try {
        static_cast<void>(lower::lower(machine, sketch.graph));
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

std::string field_fault(Bytes offset, Bytes bytes, Bytes read_beyond) {
    Sketch sketch;
    const auto x = sketch.buffer("x", kTile, kBytes);
    sketch.graph.buffers[x.index].read_beyond = read_beyond;
    sketch.step("work", kTile, {write({x, offset}, bytes)});
    return sketch.fault();
}

/// Two vertices of one tile and step with these fields.
std::string pair_fault(std::initializer_list<graph::Field> one,
                       std::initializer_list<graph::Field> other, TileId tile_of_other = kTile) {
    Sketch sketch;
    const auto x = sketch.buffer("x", kTile, kBytes); // buffer 0, as the fields say
    sketch.graph.hold(x, kOther, kBytes);
    const auto work = sketch.step("work", kTile, one);
    sketch.vertex(work, tile_of_other, other);
    return sketch.fault();
}

} // namespace

TEST_CASE("a field ends at most where the tile's part of the buffer ends", "[kernels]") {
    for (const Bytes read_beyond : {Bytes{0}, Bytes{16}}) {
        for (const Bytes offset : {Bytes{0}, Bytes{4}, kBytes - 1}) {
            CHECK(field_fault(offset, kBytes - offset, read_beyond).empty());
            const auto fault = field_fault(offset, kBytes - offset + 1, read_beyond);
            test::check_names(fault, "work", kTile, "x");
            CHECK_THAT(fault, Contains("holds " + std::to_string(kBytes)));
        }
    }
    test::check_names(field_fault(-1, 1, 0), "work", kTile, "x");
    test::check_names(field_fault(4, -1, 0), "work", kTile, "x");
    CHECK(field_fault(kBytes, 0, 0).empty()); // no bytes are nowhere
}

TEST_CASE("a field is on a tile that holds its buffer", "[kernels]") {
    Sketch sketch;
    const auto x = sketch.buffer("x", kTile, kBytes);
    const auto work = sketch.step("work", kTile, {write({x}, kBytes)});
    CHECK(sketch.fault().empty());
    sketch.vertex(work, kOther, {write({x}, 1)});
    test::check_names(sketch.fault(), "work", kOther, "x");
}

TEST_CASE("a tile behind the last that holds something holds nothing", "[kernels]") {
    for (TileId tile = kTile; tile <= kTile + 2; ++tile) {
        Sketch sketch;
        const auto x = sketch.buffer("x", kTile, kBytes);
        sketch.buffer("next", 0, kBytes);
        sketch.step("work", tile, {write({x}, 4)});
        CHECK(sketch.fault().empty() == (tile == kTile));
    }
}

TEST_CASE("a buffer that a tile is told to hold twice has its larger size there", "[kernels]") {
    Sketch sketch;
    const auto x = sketch.buffer("x", kTile, kBytes);
    sketch.graph.hold(x, kTile, kBytes / 2);
    const auto work = sketch.step("work", kTile, {write({x}, kBytes)});
    CHECK(sketch.fault().empty());
    sketch.vertex(work, kTile, {read({x}, kBytes + 1)});
    test::check_names(sketch.fault(), "work", kTile, "x");
}

TEST_CASE("a table is on the tile of the vertex that points to it", "[kernels]") {
    for (const TileId tile : {kTile, kOther}) {
        Sketch sketch;
        const auto table = sketch.graph.add_table(tile, std::vector{word(1)});
        sketch.step("work", kTile, {word(0), graph::table(table)});
        const auto fault = sketch.fault();
        CHECK(fault.empty() == (tile == kTile));
        if (tile != kTile) {
            CHECK_THAT(fault, Contains("step 'work', tile 3: field 2 of 'copy32' points to a table "
                                       "on tile 5"));
        }
    }
}

TEST_CASE("fields of tables are checked as those of the vertex", "[kernels]") {
    for (const Bytes over : {0, 1}) {
        Sketch sketch;
        const auto x = sketch.buffer("x", kTile, kBytes);
        const auto inner = sketch.graph.add_table(kTile, std::vector{write({x}, kBytes + over)});
        const auto outer = sketch.graph.add_table(kTile, std::vector{graph::table(inner)});
        sketch.step("work", kTile, {graph::table(outer)});
        CHECK(sketch.fault().empty() == (over == 0));
    }
}

TEST_CASE("bytes that are read have been written", "[kernels]") {
    struct Case {
        std::string what;
        std::vector<graph::Field> before;
        bool legal;
    };
    const graph::BufferId x{0};
    const std::vector<Case> cases{
        {"nothing", {}, false},
        {"read only", {use({x}, 1, Access::WritePart)}, false}, // of one byte of several
        {"all", {write({x}, kBytes)}, true},
        {"more", {write({x}, kBytes + 4)}, true},
        {"all but the last", {write({x}, kBytes - 1)}, false},
        {"all but the first", {write({x, 1}, kBytes - 1)}, false},
        {"in two parts", {write({x}, 20), write({x, 20}, kBytes - 20)}, true},
        {"with a gap", {write({x}, 20), write({x, 21}, kBytes - 21)}, false},
        {"some of them", {pointer({x}, kBytes, Access::WritePart)}, true},
    };
    for (const Case& each : cases) {
        Sketch sketch;
        REQUIRE(sketch.buffer("x", kTile, kBytes + 4) == x);
        const auto fill = sketch.graph.add_compute_set({"fill", program::Role::Work, "test"});
        sketch.graph.add_vertex(fill, kTile, "copy32", program::VertexKind::MultiWorker,
                                std::span(each.before));
        sketch.then(graph::run(fill));
        sketch.step("work", kTile, {read({x}, kBytes)});
        CAPTURE(each.what);
        CHECK(sketch.fault().empty() == each.legal);
        if (!each.legal) {
            test::check_names(sketch.fault(), "work", kTile, "x");
        }
    }
    Sketch update;
    update.buffer("x", kTile, kBytes);
    update.step("work", kTile, {pointer({x}, kBytes, Access::Update)});
    test::check_names(update.fault(), "work", kTile, "x");
}

TEST_CASE("given, zeroed and constant memory may be read at once", "[kernels]") {
    Sketch sketch;
    const auto given = sketch.buffer("given", kTile, kBytes);
    const auto zeroed = sketch.graph.add_buffer({.name = "zeroed", .zeroed = true});
    sketch.graph.hold(zeroed, kTile, kBytes);
    const auto constant = sketch.graph.add_buffer({.name = "constant"});
    sketch.graph.hold(constant, kTile, test::shared_bytes(kBytes));
    sketch.tensor(given, kTile, true, false);
    const auto work = sketch.step(
        "work", kTile, {read({given}, kBytes), read({zeroed}, kBytes), read({constant}, kBytes)});
    CHECK(sketch.fault().empty());

    SECTION("a wanted tensor alone writes nothing") {
        sketch.graph.tensors.back().given = false;
        sketch.graph.tensors.back().wanted = true;
        test::check_names(sketch.fault(), "work", kTile, "given");
    }
    SECTION("contents are on the tile that has them, as far as they reach") {
        sketch.graph.hold(constant, kTile, kBytes + 4);
        CHECK(sketch.fault().empty());
        sketch.vertex(work, kTile, {read({constant}, kBytes + 1)});
        test::check_names(sketch.fault(), "work", kTile, "constant");
    }
    SECTION("contents are on no other tile") {
        sketch.graph.hold(constant, kOther, kBytes);
        sketch.vertex(work, kOther, {read({constant}, kBytes)});
        test::check_names(sketch.fault(), "work", kOther, "constant");
    }
}

TEST_CASE("what is written on one way only is not written behind it", "[kernels]") {
    Sketch sketch;
    const auto x = sketch.buffer("x", kTile, kBytes);
    const auto fill = graph::run(sketch.set("fill", kTile, {write({x}, kBytes)}));
    const auto work = graph::run(sketch.set("work", kTile, {read({x}, kBytes)}));
    const auto fault_of = [&](std::vector<graph::Step> steps) {
        sketch.graph.control = graph::sequence(std::move(steps));
        return sketch.fault();
    };
    CHECK(fault_of({test::either({fill, work}, {})}).empty());
    CHECK(fault_of({test::either({fill}, {fill}), work}).empty());
    CHECK(fault_of({fill, test::either({work}, {work})}).empty());
    CHECK(fault_of({graph::repeat(1, {fill}), work}).empty());
    for (const auto& faulty :
         {fault_of({test::either({fill}, {work})}), fault_of({test::either({work}, {fill})}),
          fault_of({test::either({fill}, {}), work}),
          fault_of({test::either({graph::repeat(1, {})}, {fill}), work}),
          fault_of({test::as_long_as({fill}), work}), fault_of({graph::repeat(0, {fill}), work}),
          fault_of({graph::repeat(2, {work, fill})})}) {
        test::check_names(faulty, "work", kTile, "x");
    }
}

TEST_CASE("a word that decides is written, on its tile and whole", "[kernels]") {
    const auto fault_of = [](bool written, TileId tile, Bytes offset, const auto& step_of) {
        Sketch sketch;
        const auto flag = sketch.buffer("flag", kTile, 8);
        const auto row = sketch.buffer("row", kTile, kBytes);
        const auto work = graph::run(sketch.set("work", kTile, {write({row}, kBytes)}));
        sketch.graph.remote_buffers.push_back({.name = "remote", .rows = 1, .row_bytes = kBytes});
        const auto load = sketch.graph.add_stream_copy(
            {.name = "load", .owner = "triad", .pieces = {{kTile, {row}, kBytes, 0}}});
        if (written) {
            sketch.step("fill", kTile, {write({flag}, 8)});
        }
        sketch.then(step_of(graph::TilePlace(tile, {flag, offset}), work, load));
        return sketch.fault();
    };
    const auto check = [&](const std::string& where, const auto& step_of) {
        const auto start = "program 'sketch': kernel " + where + ", tile ";
        CHECK(fault_of(true, kTile, 4, step_of).empty());
        CHECK(fault_of(false, kTile, 4, step_of) ==
              start + "3: bytes 4..7 of 'flag' are read, and nothing has written all of them");
        CHECK(fault_of(true, kTile, 8, step_of) ==
              start + "3: the word uses bytes 8..11 of 'flag', of which the tile holds 8");
        CHECK(fault_of(true, kOther, 0, step_of) ==
              start + std::to_string(kOther) +
                  ": the word uses bytes 0..3 of 'flag', of which the tile holds 0");
        CHECK(fault_of(true, kTile, 2, step_of) ==
              start + "3: the word at byte 2 of 'flag', expected a multiple of 4");
    };
    check("'control', step 'while'",
          [](auto word, auto work, auto) { return graph::as_long_as(word, {work}); });
    check("'control', step 'if'",
          [](auto word, auto work, auto) { return graph::when(word, {work}); });
    for (const auto kind : {graph::Step::Kind::StreamCopy, graph::Step::Kind::StreamStart}) {
        check("'triad', step 'load'",
              [&](auto word, auto, auto load) { return graph::stream(kind, load, word); });
    }
}

TEST_CASE("vertices of one tile and compute set write different bytes", "[kernels]") {
    const graph::BufferId x{0};
    CHECK(pair_fault({write({x}, 8)}, {write({x, 8}, 8)}).empty());
    const auto fault = pair_fault({write({x}, 8)}, {write({x, 7}, 8)});
    test::check_names(fault, "work", kTile, "x");
    CHECK_THAT(fault, Contains("byte 7 "));
    CHECK(pair_fault({write({x}, 8)}, {read({x}, 8)}).empty());          // of the one before
    CHECK_FALSE(pair_fault({read({x}, 8)}, {write({x}, 8)}).empty());    // of the one behind
    CHECK(pair_fault({write({x}, 8)}, {write({x}, 8)}, kOther).empty()); // two tiles
    CHECK(pair_fault({write({x}, 8), write({x, 4}, 8)}, {}).empty());    // its own affair
    // a write reaches over those that begin behind it
    CHECK_FALSE(pair_fault({write({x}, 40), write({x, 8}, 4)}, {write({x, 20}, 4)}).empty());
    CHECK_FALSE(pair_fault({write({x, 8}, 4), write({x, 20}, 4)}, {write({x}, 40)}).empty());
    CHECK(pair_fault({write({x}, 20), write({x, 8}, 4)}, {write({x, 20}, 4)}).empty());
}

TEST_CASE("a mistake names program, kernel, step, tile and buffer", "[kernels]") {
    const auto multiply = [](Sketch& sketch) {
        const auto set = sketch.graph.add_compute_set({"multiply", program::Role::Work, "spmm"});
        sketch.then(graph::run(set));
        return set;
    };
    SECTION("bytes that are used before they are written") {
        Sketch sketch;
        const auto x = sketch.buffer("x", kTile, kBytes);
        sketch.vertex(multiply(sketch), kTile, {read({x}, 8)});
        CHECK(sketch.fault() == "program 'sketch': kernel 'spmm', step 'multiply', tile 3: bytes "
                                "0..7 of 'x' are read, and nothing has written all of them");
    }
    SECTION("two overlapping writes in one compute set") {
        Sketch sketch;
        const auto x = sketch.buffer("x", kTile, kBytes);
        const auto set = multiply(sketch);
        sketch.vertex(set, kTile, {write({x}, 8)});
        sketch.vertex(set, kTile, {write({x, 4}, 8)});
        CHECK(sketch.fault() == "program 'sketch': kernel 'spmm', step 'multiply', tile 3: two "
                                "vertices write byte 4 of 'x'");
    }
    SECTION("a field on a tile that does not hold the buffer") {
        Sketch sketch;
        const auto x = sketch.buffer("x", kOther, kBytes);
        sketch.vertex(multiply(sketch), kTile, {word(1), write({x}, 8)});
        CHECK(sketch.fault() ==
              "program 'sketch': kernel 'spmm', step 'multiply', tile 3: field 2 of 'copy32' uses "
              "bytes 0..7 of 'x', of which the tile holds 0");
    }
    SECTION("a message that brings what nothing has written") {
        Sketch sketch;
        const auto x = sketch.buffer("x", kTile, kBytes);
        sketch.graph.hold(x, kOther, kBytes);
        const auto bring = sketch.graph.add_exchange({"bring x", program::Role::Bring, "matmul"});
        sketch.graph.add_message(bring, kTile, {x}, 4, {kOther, {x, 8}});
        sketch.then(graph::run(bring));
        CHECK(sketch.fault() == "program 'sketch': kernel 'matmul', step 'bring x', tile 3: bytes "
                                "0..3 of 'x' are read, and nothing has written all of them");
    }
    SECTION("a stream copy of more than the tile holds") {
        Sketch sketch;
        const auto row = sketch.buffer("row", kTile, kBytes);
        sketch.graph.remote_buffers.push_back({.name = "remote", .rows = 1, .row_bytes = 68});
        const auto load = sketch.graph.add_stream_copy(
            {.name = "load", .owner = "triad", .pieces = {{kTile, {row}, kBytes + 4, 0}}});
        sketch.then(graph::stream(graph::Step::Kind::StreamCopy, load, 0));
        CHECK(sketch.fault() == "program 'sketch': kernel 'triad', step 'load', tile 3: a piece "
                                "uses bytes 0..67 of 'row', of which the tile holds 64");
    }
}

TEST_CASE("messages begin and end in what tiles hold", "[kernels]") {
    for (const Bytes source : {kBytes, kBytes - 4}) {
        for (const Bytes target : {kBytes, kBytes - 4}) {
            Sketch sketch;
            const auto from = sketch.graph.add_buffer({.name = "from", .zeroed = true});
            sketch.graph.hold(from, kTile, source);
            const auto to = sketch.buffer("to", kOther, target);
            sketch.message("bring", {kTile, {from}}, kBytes, {kOther, {to}});
            const auto fault = sketch.fault();
            CHECK(fault.empty() == (source == kBytes && target == kBytes));
            if (source != kBytes) {
                test::check_names(fault, "bring", kTile, "from");
            } else if (target != kBytes) {
                test::check_names(fault, "bring", kOther, "to");
            }
        }
    }
}

TEST_CASE("a message brings what was written, and to another tile", "[kernels]") {
    Sketch sketch;
    const auto from = sketch.buffer("from", kTile, kBytes);
    const auto to = sketch.buffer("to", kOther, kBytes);
    sketch.message("bring", {kTile, {from}}, kBytes, {kOther, {to}});
    test::check_names(sketch.fault(), "bring", kTile, "from");
    sketch.tensor(from, kTile, true, false);
    CHECK(sketch.fault().empty());
    sketch.graph.hold(to, kTile, kBytes);
    sketch.message("to itself", {kTile, {from}}, kBytes, {kTile, {to}});
    test::check_names(sketch.fault(), "to itself", kTile, "to");
    CHECK_THAT(sketch.fault(),
               Contains("tile 3: a message of 'from' goes to its own tile, as 'to'"));
}

TEST_CASE("pieces of stream copies and tensors are in what tiles hold", "[kernels]") {
    for (const Bytes held : {kBytes, kBytes - 1}) {
        Sketch copy;
        const auto row = copy.buffer("row", kTile, held);
        copy.graph.remote_buffers.push_back({.name = "remote", .rows = 1, .row_bytes = kBytes});
        const auto load = copy.graph.add_stream_copy(
            {.name = "load", .owner = "test", .pieces = {{kTile, {row}, kBytes, 0}}});
        copy.then(graph::stream(graph::Step::Kind::StreamCopy, load, 0));
        CHECK(copy.fault().empty() == (held == kBytes));
        if (held != kBytes) {
            test::check_names(copy.fault(), "load", kTile, "row");
        }

        // elements 0 and 1 of the inner loop stand behind each other, or the other way round
        for (const std::int64_t stride : {2, -2}) {
            Sketch tensor;
            const auto x = tensor.buffer("x", kTile, held);
            auto made = graph::array_tensor("seen", ElementType::F16, kBytes / 2);
            made.pieces.push_back(
                {kTile, {x, stride < 0 ? 2 : 0}, 0, {{kBytes / 4, 2, 4}, {2, 1, stride}}});
            tensor.graph.add_tensor(made);
            CHECK(tensor.fault().empty() == (held == kBytes));
            if (held != kBytes) {
                CHECK(tensor.fault() == "program 'sketch': tensor 'seen', tile 3: a piece is bytes "
                                        "0..63 of 'x', of which the tile holds 63");
            }
        }
    }
}

TEST_CASE("a piece without elements is nowhere", "[kernels]") {
    for (const std::int64_t count : {0, 1}) {
        for (const Bytes stride : {-2 * kBytes, 2 * kBytes}) {
            Sketch sketch;
            const auto x = sketch.buffer("x", kTile, kBytes);
            auto made = graph::array_tensor("seen", ElementType::F16, 4);
            made.pieces.push_back({kTile, {x}, 0, {{count, 2, stride}, {2, 1, stride}}});
            sketch.graph.add_tensor(made);
            CHECK(sketch.fault().empty() == (count == 0));
        }
    }
}

TEST_CASE("tiles are the machine's", "[kernels]") {
    Sketch sketch;
    const auto x = sketch.buffer("x", kTile, kBytes);
    CHECK(refusal(sketch, kTile + 1).empty());
    CHECK_THAT(refusal(sketch, kTile),
               Contains("program 'sketch': buffer 'x', tile 3: ") && Contains("3 tiles"));
    Sketch vertex;
    vertex.graph.codelets = {"copy"};
    vertex.step("work", kTile, {});
    CHECK(refusal(vertex, kTile + 1).empty());
    CHECK(refusal(vertex, kTile) ==
          "program 'sketch': kernel 'test', step 'work', tile 3: expected "
          "one of the machine's 3 tiles");
    CHECK(x.index == 0);
}

TEST_CASE("a vertex names a symbol of the graph's codelets", "[kernels]") {
    Sketch sketch;
    sketch.graph.codelets = {"copy"};
    const auto work = sketch.step("work", kTile, {});
    CHECK(refusal(sketch).empty());
    sketch.graph.add_vertex(work, kOther, "copy23", program::VertexKind::MultiWorker, {});
    CHECK(refusal(sketch) == "program 'sketch': kernel 'test', step 'work', tile 5: no codelet has "
                             "symbol 'copy23'; did you mean 'copy32'?");
    sketch.graph.codelets.clear();
    CHECK(refusal(sketch) == "program 'sketch': kernel 'test', step 'work', tile 3: no codelet has "
                             "symbol 'copy32'");
}

TEST_CASE("contents are said once", "[kernels]") {
    Sketch sketch;
    const auto x = sketch.graph.add_buffer({.name = "x"});
    sketch.graph.hold(x, kTile, test::shared_bytes(kBytes, 1));
    sketch.graph.hold(x, kTile, test::shared_bytes(kBytes, 1));
    sketch.graph.hold(x, kOther, test::shared_bytes(kBytes, 2));
    CHECK(refusal(sketch).empty());
    sketch.graph.hold(x, kTile, test::shared_bytes(kBytes, 2));
    CHECK(refusal(sketch) == "program 'sketch': tile 3 is told two contents of 'x'");
}

TEST_CASE("addresses in contents stand in them and lead to what the tile holds", "[kernels]") {
    const auto fault_of = [](graph::Relocation relocation) {
        Sketch sketch;
        const auto lists = sketch.graph.add_buffer({.name = "lists"});
        const auto x = sketch.buffer("x", kTile, kBytes);
        relocation.buffer = relocation.is_symbol ? 0 : x.index;
        relocation.symbol = sketch.graph.symbol_number("copy46");
        sketch.graph.codelets = {"copy"};
        sketch.graph.hold(lists, kTile, test::shared_bytes(kBytes),
                          std::make_shared<const std::vector<graph::Relocation>>(1, relocation));
        return refusal(sketch);
    };
    CHECK(fault_of({.at = kBytes - 4, .offset = kBytes}).empty()); // the end is an address too
    CHECK(fault_of({.at = kBytes - 3}) ==
          "program 'sketch': tile 3: contents of 'lists': an address at byte 61 of 64");
    CHECK_FALSE(fault_of({.at = -1}).empty());
    CHECK(fault_of({.at = 8, .offset = kBytes + 1}) ==
          "program 'sketch': tile 3: contents of 'lists': the address at byte 8 is byte 65 of 'x', "
          "of which "
          "the tile holds 64");
    CHECK(fault_of({.is_symbol = true}) ==
          "program 'sketch': tile 3: contents of 'lists': no codelet has "
          "symbol 'copy46'; did you mean 'copy64'?");
}

TEST_CASE("the nearest symbol that is told is one that a vertex may have", "[kernels]") {
    Sketch sketch;
    sketch.graph.symbols = {"copy46"};
    auto& set = sketch.graph.compute_sets.emplace_back();
    set.name = "work";
    set.vertices.emplace_back().symbol = 0;
    program::Codelet codelet;
    codelet.symbol_info["copy64"].binding = program::SymbolBinding::Global;
    codelet.symbol_info["copy46a"].binding = program::SymbolBinding::Local;
    std::string told;
    try {
        lower::check_symbols(sketch.graph, codelet);
    } catch (const ProgramError& error) {
        told = error.what();
    }
    CHECK(told.find("no codelet has symbol 'copy46'; did you mean 'copy64'?") != std::string::npos);
}

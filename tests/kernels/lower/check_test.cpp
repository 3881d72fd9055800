// SPDX-License-Identifier: MIT
// What a graph is told twice, and codelets that it names.
#include "kernels/lower/check.h"
#include "kernels/lower/codelet_library.h"
#include "models/spec/machine_spec.h"
#include "tests/kernels/graph/graph_sketch.h"

#include <string>
#include <vector>

namespace {

using namespace tessera;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::Sketch;

std::string told(const graph::Graph& graph) {
    try {
        const lower::CodeletLibrary library(spec::MachineSpec{}, graph);
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("what a tile is told several times of a buffer becomes one", "[kernels][check]") {
    const auto contents = test::shared_bytes(8);
    const auto moved = std::make_shared<const std::vector<graph::Relocation>>(1);
    for (const bool contents_first : {false, true}) {
        Sketch sketch;
        const auto x = sketch.buffer("x", 4, 12);
        const auto hold = [&](bool with_contents) {
            if (with_contents) {
                sketch.graph.hold(x, 2, contents, moved);
            } else {
                sketch.graph.hold(x, 2, 20);
            }
        };
        hold(contents_first);
        hold(!contents_first);
        sketch.graph.hold(x, 2, 16);
        sketch.graph.hold(x, 1, 4);
        sketch.graph.hold(x, 4, 10);
        lower::hold_once(sketch.graph);
        const auto& held = sketch.graph.buffers[x.index].held;
        REQUIRE(held.size() == 3);
        CHECK((held[0].tile == 4 && held[0].bytes == 12 && held[0].contents == nullptr));
        CHECK((held[1].tile == 2 && held[1].bytes == 20 && held[1].contents == contents));
        CHECK(held[1].relocations == moved);
        CHECK((held[2].tile == 1 && held[2].bytes == 4 && held[2].relocations == nullptr));
    }
}

TEST_CASE("two contents of a tile are equal, and so are the addresses in them",
          "[kernels][check]") {
    const auto some = std::make_shared<const std::vector<graph::Relocation>>(1);
    const auto others = std::make_shared<const std::vector<graph::Relocation>>(1);
    const auto fault = [&](int value, const graph::Relocations& one,
                           const graph::Relocations& other) {
        Sketch sketch;
        const auto x = sketch.graph.add_buffer({.name = "x"});
        sketch.graph.hold(x, 3, test::shared_bytes(8), one);
        sketch.graph.hold(x, 3, test::shared_bytes(8, value), other);
        try {
            lower::hold_once(sketch.graph);
        } catch (const ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string twice = "program 'sketch': tile 3 is told two contents of 'x'";
    CHECK(fault(7, nullptr, nullptr).empty());
    CHECK(fault(7, some, some).empty());
    CHECK(fault(8, nullptr, nullptr) == twice);
    CHECK(fault(8, some, some) == twice);
    CHECK(fault(7, some, others) == twice);
    CHECK(fault(7, some, nullptr) == twice);
    CHECK(fault(7, nullptr, some) == twice);
}

TEST_CASE("a codelet is known or the graph's own", "[kernels][check]") {
    graph::Graph graph("sketch");
    CHECK(told(graph).empty());
    graph.codelets = {"copy"};
    CHECK(told(graph).empty());
    graph.codelets = {"copy", "copi"};
    CHECK(told(graph) == "sketch: there is no codelet 'copi.S'; did you mean 'copy.S'?");
    graph.codelets = {"nothing like it at all"};
    CHECK(told(graph) == "sketch: there is no codelet 'nothing like it at all.S'");

    graph.codelets = {"copy", "mine"};
    graph.own_codelets["mine"] = ".worker\n.align 8\n.globl mine\nmine:\n exitz $mzero\n";
    CHECK(told(graph).empty());
    const lower::CodeletLibrary library(spec::MachineSpec{}, graph);
    CHECK(library.codelet().symbols.contains("copy64"));
    CHECK(library.entry("mine") == library.codelet().symbols.at("mine"));
    CHECK(library.bytes() == static_cast<Bytes>(4 * library.codelet().words.size()));

    // its own one goes before one that is known
    graph.codelets = {"copy"};
    graph.own_codelets["copy"] = graph.own_codelets["mine"];
    const lower::CodeletLibrary own(spec::MachineSpec{}, graph);
    CHECK(own.codelet().symbols.contains("mine"));
    CHECK_FALSE(own.codelet().symbols.contains("copy64"));

    graph.own_codelets["copy"] = "mine:\n no_such_instruction\n";
    CHECK_THAT(told(graph), StartsWith("copy.S:2"));
    // one that has a symbol of another
    graph.codelets = {"copy", "mine"};
    graph.own_codelets = {{"mine", ".worker\n.align 8\n.globl copy64\ncopy64:\n exitz $mzero\n"}};
    CHECK_THAT(told(graph), Contains("copy64") && Contains("mine.S"));
}

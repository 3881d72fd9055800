// SPDX-License-Identifier: MIT
#include "kernels/codelets/embedded_sources.h"
#include "kernels/lower/codelet_library.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace tessera;

std::string text_of(const std::string& codelet_file) {
    // headers of published codelets go by the name by which these include them
    std::string path = test::source_path("kernels/codelets/" + codelet_file);
    if (codelet_file.ends_with(".h")) {
        path = test::source_path("kernels/codelets/published/" + codelet_file);
    }
    std::ifstream stream(path, std::ios::binary);
    REQUIRE(stream.is_open());
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string line_of(const std::string& codelet_file, std::uint32_t line) {
    std::istringstream stream(text_of(codelet_file));
    std::string text;
    for (std::uint32_t i = 0; i < line; ++i) {
        REQUIRE(std::getline(stream, text));
    }
    return text;
}

const program::LineEntry& entry_at(const program::Codelet& codelet, Address address) {
    const auto found =
        std::find_if(codelet.lines.begin(), codelet.lines.end(),
                     [&](const program::LineEntry& line) { return line.address == address; });
    REQUIRE(found != codelet.lines.end());
    return *found;
}

} // namespace

TEST_CASE("embedded codelets are the files of their folder", "[kernels]") {
    for (const isa::SourceFile& source : codelets::embedded_sources()) {
        CAPTURE(source.name);
        CHECK(source.text == text_of(source.name));
    }
}

TEST_CASE("the lines of a codelet are those that its author edits", "[kernels]") {
    graph::Graph graph("codelets");
    graph.codelets = {"matmul_amp_f16", "reduce_add_f16", "copy"};
    const lower::CodeletLibrary library(spec::MachineSpec{}, graph);
    const program::Codelet& codelet = library.codelet();
    const program::LineEntry& matmul = entry_at(codelet, library.entry("amp_add_f16"));
    CHECK(codelet.files.at(matmul.file) == "matmul_amp.S");
    CHECK(line_of("matmul_amp.S", matmul.line).find("brneg   $m2, .Lfew_add") != std::string::npos);

    const program::LineEntry& index = entry_at(codelet, library.entry("reduce_f16"));
    CHECK(codelet.files.at(index.file) == "reduce_add.S");
    CHECK(line_of("reduce_add.S", index.line).find("WORKER_INDEX") != std::string::npos);
    CHECK(codelet.files.at(index.body_file) == "worker_share.inc");
    CHECK(line_of("worker_share.inc", index.body_line).find("get     \\INDEX, $WSR") !=
          std::string::npos);
}

TEST_CASE("a codelet that a generation lacks says where, and how it came there", "[kernels]") {
    spec::MachineSpec gc2;
    gc2.chip.generation = spec::Generation::Ipu1;
    graph::Graph graph("codelets");
    graph.codelets = {"matmul_amp_f16"};
    CHECK_THROWS_WITH(
        lower::CodeletLibrary(gc2, graph),
        Catch::Contains("see docs/deviations.md\n  partials.inc:13:13: f16v4hihov4amp: got "
                        "architecture 1") &&
            Catch::Contains("matmul_amp.S:") &&
            Catch::Contains("matmul_amp_f16.S:4:2: included from here"));
}

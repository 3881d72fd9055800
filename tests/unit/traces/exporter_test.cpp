// SPDX-License-Identifier: MIT
// What holds in every format.
#include "base/error.h"
#include "tests/support/scratch_folder.h"
#include "traces/exporters/exporter.h"
#include "traces/exporters/formats.h"

#include <catch2/catch.hpp>
#include <zlib.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::traces;
using test::ScratchFolder;

namespace {

const std::vector<std::string> kFiles{"t.pftrace", "t.json", "t.vcd"};

Span compute(Track track, Cycles begin, Cycles end) {
    return {track, Kind::Compute, kUnnamed, begin, end, {}};
}

TraceSummary write_phases(const std::string& path, int phases,
                          std::int64_t slice_cap = kDefaultSliceCap) {
    const NameTable names;
    Exporter trace{path, parse_selection("all", "worker", 2), names, {.slice_cap = slice_cap}};
    for (int phase = 0; phase < phases; ++phase) {
        const Cycles begin = 10 * phase;
        for (const auto track :
             {machine_track(), tile_track(0), tile_track(1), worker_track(1, 0)}) {
            trace.span(compute(track, begin, begin + 10));
        }
        trace.counter({Counter::ActiveTiles, begin, 2});
    }
    return trace.finish();
}

std::string decompressed(const std::string& path) {
    const gzFile file = gzopen(path.c_str(), "rb");
    std::string text(std::size_t{1} << 20, '\0');
    const int length = gzread(file, text.data(), static_cast<unsigned>(text.size()));
    CHECK(gzdirect(file) == 0);
    gzclose(file);
    text.resize(static_cast<std::size_t>(length));
    return text;
}

} // namespace

TEST_CASE("the ending of a file says its format", "[unit][traces]") {
    const std::vector<std::pair<std::string, std::string>> cases{{"t.vcd", "vcd"},
                                                                 {"t.vcd.gz", "vcd"},
                                                                 {"t.json", "chrome"},
                                                                 {"a.b/t.json.gz", "chrome"},
                                                                 {"t.pftrace", "perfetto"},
                                                                 {"t.pftrace.gz", "perfetto"},
                                                                 {"t.gz", "perfetto"},
                                                                 {"vcd", "perfetto"},
                                                                 {"t.vcd.pftrace", "perfetto"},
                                                                 {"t.VCD", "perfetto"},
                                                                 {"-", "perfetto"},
                                                                 {"standard output", "perfetto"}};
    for (const auto& [path, word] : cases) {
        CAPTURE(path);
        CHECK(format_of(path).word == word);
    }
}

TEST_CASE("a summary says format and clock", "[unit][traces]") {
    const ScratchFolder folder;
    CHECK(write_phases(folder.path("t.vcd.gz"), 1).format == "vcd");
    const NameTable names;
    Exporter trace{folder.path("t.json"),
                   parse_selection("", "machine", 1),
                   names,
                   {.metadata = {.clock = Clock::Machine}}};
    const TraceSummary summary = trace.finish();
    CHECK(summary.format == "chrome");
    CHECK(summary.clock == Clock::Machine);
}

TEST_CASE("every format gets the same slices", "[unit][traces]") {
    for (const auto& name : kFiles) {
        CAPTURE(name);
        const ScratchFolder folder;
        const auto summary = write_phases(folder.path(name), 3);
        CHECK(summary.slices == 12);
        CHECK(summary.tiles == std::vector<TileId>{0, 1});
        CHECK(folder.names() == std::vector<std::string>{name});
    }
}

TEST_CASE("every format is cut at the cap", "[unit][traces]") {
    for (const auto& name : kFiles) {
        CAPTURE(name);
        const ScratchFolder folder;
        const auto summary = write_phases(folder.path(name), 3, 5);
        CHECK(summary.truncated);
        CHECK(summary.slices == 5 + 1); // the machine's go on
        CHECK(test::read_text(folder.path(name)).find("truncated") != std::string::npos);
    }
}

TEST_CASE("every format is the same from run to run and compressed by its ending",
          "[unit][traces]") {
    for (const auto& name : kFiles) {
        CAPTURE(name);
        const ScratchFolder folder;
        write_phases(folder.path(name), 20);
        write_phases(folder.path(name + ".gz"), 20);
        CHECK(decompressed(folder.path(name + ".gz")) == test::read_text(folder.path(name)));
    }
}

TEST_CASE("no format leaves a file that is not finished, or on a full disk", "[unit][traces]") {
    const NameTable names;
    for (const auto& name : kFiles) {
        CAPTURE(name);
        const ScratchFolder folder;
        {
            Exporter trace{folder.path(name), parse_selection("", "", 1), names};
            trace.span(compute(machine_track(), 0, 5));
        }
        CHECK(folder.names().empty());
        std::filesystem::create_symlink("/dev/full", folder.path(name));
        Exporter trace{folder.path(name), parse_selection("", "", 1), names};
        trace.span(compute(machine_track(), 0, 5));
        CHECK_THROWS_WITH(trace.finish(),
                          folder.path(name) + ": cannot be written: No space left on device");
    }
}

TEST_CASE("a run without slices is a trace in every format", "[unit][traces]") {
    for (const auto& name : kFiles) {
        CAPTURE(name);
        const ScratchFolder folder;
        CHECK(write_phases(folder.path(name), 0).slices == 0);
        CHECK(std::filesystem::file_size(folder.path(name)) > 0);
    }
}

// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "tests/support/konata_check.h"
#include "tests/support/source_path.h"
#include "traces/exporters/konata.h"

#include <catch2/catch.hpp>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

using namespace tessera;
using namespace tessera::traces;
namespace fs = std::filesystem;

namespace {

/// A file name that is free again at the end of the test.
struct TestFile {
    explicit TestFile(const std::string& suffix)
        : path((fs::temp_directory_path() / ("tessera_konata_" + std::to_string(getpid()) + suffix))
                   .string()) {}
    ~TestFile() { fs::remove(path); }
    TestFile(const TestFile&) = delete;
    TestFile& operator=(const TestFile&) = delete;

    std::string path;
};

std::string bytes_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

InstructionText describe(Address address) {
    switch (address) {
    case 0x4c000:
        return {"setzi $m0, 1", "one.S:3"};
    case 0x4c004:
        return {"add $m1,\t$m0, 1", ""};
    default:
        return {"{ ld32 $a0, $m2, 0 ; f32add $a1, $a1, $a0 }", ""};
    }
}

/// The supervisor sets a register and uses it; meanwhile worker 2 issues a bundle.
const std::vector<PipelineInstruction> kScene = {
    {-1, 0x4c000, 0, 0, 1, 6},
    {2, 0x4c010, 2, 2, 8, 3},
    {-1, 0x4c004, 1, 6, 7, 12},
};

std::string written(const std::vector<PipelineInstruction>& instructions) {
    const TestFile file(".log");
    OutputFile output{file.path};
    write_konata(output, instructions, 6, describe);
    return bytes_of(file.path);
}

/// Keeps the spans of the contexts that it wants.
class CollectingSink final : public TraceSink {
public:
    explicit CollectingSink(Level level) : TraceSink(level, {true}) {}
    void span(const Span& span) override { spans.push_back(span); }
    void counter(const CounterSample&) override {}

    std::vector<Span> spans;
};

} // namespace

TEST_CASE("a Konata file reads as its format says", "[unit][traces]") {
    const std::string path = tessera::test::source_path("tests/golden/trace/konata.txt");
    CHECK(written(kScene) == bytes_of(path));
}

TEST_CASE("a Konata file keeps the rules of its format", "[unit][traces]") {
    const auto summary = test::KonataReader::read(written(kScene));
    CHECK(summary.error.empty());
    CHECK(summary.instructions == 3);
    CHECK(summary.first_cycle == 0);
    CHECK(summary.last_cycle == 12);
    CHECK(summary.threads == std::set<std::int64_t>{2, 6}); // the supervisor behind six workers
    CHECK(summary.stage_cycles.at("Wt") == 5);
    CHECK(summary.stage_cycles.at("Is") == 3);
    CHECK(summary.stage_cycles.at("Ex") == (6 - 1) + (12 - 7));
}

TEST_CASE("the Konata reader finds broken files", "[unit][traces]") {
    const std::string good = written(kScene);
    const auto with = [&good](const std::string& from, const std::string& to) {
        std::string text = good;
        REQUIRE(text.find(from) != std::string::npos);
        text.replace(text.find(from), from.size(), to);
        return test::KonataReader::read(text).error;
    };
    CHECK_THAT(with("0004", "0003"), Catch::Contains("header"));
    CHECK_THAT(with("R\t1\t2\t0\n", ""), Catch::Contains("never retired"));
    CHECK_THAT(with("C\t1\n", "C\t-1\n"), Catch::Contains("does not advance"));
    CHECK_THAT(with("E\t0\t0\tEx", "E\t0\t0\tIs"), Catch::Contains("another stage"));
}

TEST_CASE("an instruction is issued in one clock, and executes in those that are left",
          "[unit][traces]") {
    for (const Cycles wait : {0, 1, 3}) {
        for (const Cycles length : {1, 2, 3, 6}) {
            CAPTURE(wait, length);
            const auto summary = test::KonataReader::read(
                written({{0, 0x4c000, 10, 10 + wait, 11 + wait, 10 + wait + length}}));
            CHECK(summary.error.empty());
            const auto stage = [&](const char* name) {
                const auto found = summary.stage_cycles.find(name);
                return found == summary.stage_cycles.end() ? 0 : found->second;
            };
            CHECK(stage("Wt") == wait);
            CHECK(stage("Is") == 1);
            CHECK(stage("Ex") == length - 1);
            CHECK(summary.threads == std::set<std::int64_t>{0});
        }
    }
}

TEST_CASE("a label of several lines stands in one", "[unit][traces]") {
    const TestFile file(".log");
    OutputFile output{file.path};
    write_konata(output, std::vector<PipelineInstruction>{{1, 0x4c000, 0, 0, 1, 6}}, 6,
                 [](Address) {
                     return InstructionText{"a\tb\nc\rd", "e\nf"};
                 });
    const std::string text = bytes_of(file.path);
    CHECK_THAT(text, Catch::Contains("L\t0\t0\t4c000: a b c d\n"));
    CHECK_THAT(text, Catch::Contains("L\t0\t1\te f\n"));
    CHECK_THAT(text, Catch::Contains("I\t0\t0\t1\n"));
}

TEST_CASE("a phase without instructions is an empty Konata file", "[unit][traces]") {
    CHECK(written({}) == "Kanata\t0004\nC=\t0\n");
}

TEST_CASE("a Konata file starts in the clock of its first instruction", "[unit][traces]") {
    CHECK_THAT(written({{0, 0x4c000, 700, 700, 706, 706}}), Catch::Contains("C=\t700\nI\t0"));
}

TEST_CASE("a Konata path that ends in gz is compressed and a bad one is an error",
          "[unit][traces]") {
    const TestFile file(".log.gz");
    OutputFile output{file.path};
    write_konata(output, kScene, 6, describe);
    const gzFile compressed = gzopen(file.path.c_str(), "rb");
    std::string text(4096, '\0');
    const int length = gzread(compressed, text.data(), static_cast<unsigned>(text.size()));
    CHECK(gzdirect(compressed) == 0);
    gzclose(compressed);
    REQUIRE(length > 0);
    text.resize(static_cast<std::size_t>(length));
    CHECK(text == written(kScene));
    OutputFile full{"/dev/full"}; // takes the opening and refuses the bytes
    CHECK_THROWS_AS(write_konata(full, kScene, 6, describe), IoError);
}

TEST_CASE("mnemonics are what an instruction is called by", "[unit][traces]") {
    CHECK(mnemonics_of("ld32 $m1, $m2, 0") == "ld32");
    CHECK(mnemonics_of("{ ld32 $a0, $m2, 0 ; f32add $a1, $a1, $a0 }") == "ld32 ; f32add");
    CHECK(mnemonics_of("{ nop ; fnop }") == "nop ; fnop");
    CHECK(mnemonics_of("").empty());
}

TEST_CASE("instructions become spans of their contexts", "[unit][traces]") {
    NameTable names;
    CollectingSink sink(Level::Worker);
    send_pipeline(sink, names, 0, 12, kScene, describe);
    REQUIRE(sink.spans.size() == 5);
    CHECK(sink.spans[0].track == machine_track());
    CHECK(sink.spans[1].track == tile_track(0));
    CHECK(sink.spans[1].end == 12);
    CHECK(sink.spans[2].track == supervisor_track(0));
    CHECK(names.text(sink.spans[2].name) == "setzi");
    CHECK(sink.spans[3].track == worker_track(0, 2));
    CHECK(names.text(sink.spans[3].name) == "ld32 ; f32add");
    CHECK(sink.spans[3].begin == 2);
    CHECK(sink.spans[3].end == 8);
    CollectingSink coarse(Level::Tile);
    send_pipeline(coarse, names, 0, 12, kScene, describe);
    CHECK(coarse.spans.size() == 2);
    for (const int context : {-1, 0, 1, 5}) {
        CollectingSink one(Level::Worker);
        const std::vector<PipelineInstruction> instruction{{context, 0x4c000, 0, 0, 1, 6}};
        send_pipeline(one, names, 0, 12, instruction, describe);
        REQUIRE(one.spans.size() == 3);
        CHECK(one.spans[2].track == (context < 0
                                         ? supervisor_track(0)
                                         : worker_track(0, static_cast<std::uint8_t>(context))));
    }
}

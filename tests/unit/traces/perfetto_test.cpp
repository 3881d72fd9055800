// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "traces/exporters/exporter.h"

#include <catch2/catch.hpp>
#include <protozero/pbf_reader.hpp>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace tessera;
using namespace tessera::traces;
namespace fs = std::filesystem;

namespace {

/// A directory of its own for each test process, removed at the end.
class TestDirectory {
public:
    TestDirectory()
        : path_(fs::temp_directory_path() / ("tessera_traces_" + std::to_string(getpid()))) {
        fs::create_directories(path_);
    }
    ~TestDirectory() { fs::remove_all(path_); }
    TestDirectory(const TestDirectory&) = delete;
    TestDirectory& operator=(const TestDirectory&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const {
        return (path_ / name).string();
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& entry : fs::directory_iterator(path_)) {
            found.push_back(entry.path().filename().string());
        }
        return found;
    }

private:
    fs::path path_;
};

std::string bytes_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
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

/// How many events of each type (1 begin, 2 end, 3 instant, 4 counter) a trace holds.
std::map<std::int32_t, int> events_by_type(const std::string& bytes) {
    std::map<std::int32_t, int> counts;
    protozero::pbf_reader trace{bytes};
    while (trace.next(1)) {
        auto packet = trace.get_message();
        while (packet.next(11)) {
            auto event = packet.get_message();
            while (event.next(9)) {
                ++counts[event.get_enum()];
            }
        }
    }
    return counts;
}

Span compute(Track track, Cycles begin, Cycles end) {
    return {track, Kind::Compute, kUnnamed, begin, end, {}};
}

/// Compute phases of 10 cycles, on the machine and on each of two tiles.
TraceSummary write_phases(const std::string& path, int phases, std::int64_t slice_cap) {
    const NameTable names;
    Exporter trace{path,
                   parse_selection("all", "tile", 2),
                   names,
                   {.metadata = {.machine = "tiny"}, .slice_cap = slice_cap}};
    for (int phase = 0; phase < phases; ++phase) {
        const Cycles begin = 10 * phase;
        for (const auto track : {machine_track(), tile_track(0), tile_track(1)}) {
            trace.span(compute(track, begin, begin + 10));
        }
    }
    return trace.finish();
}

/// The rank of each named track among those of its parent.
std::map<std::string, std::int32_t> ranks_in(const std::string& bytes) {
    std::map<std::string, std::int32_t> ranks;
    protozero::pbf_reader trace{bytes};
    while (trace.next(1)) {
        auto packet = trace.get_message();
        while (packet.next(60)) {
            auto track = packet.get_message();
            std::string name;
            while (track.next()) {
                if (track.tag() == 2) {
                    name = track.get_string();
                } else if (track.tag() == 12) {
                    ranks[name] = track.get_int32();
                } else {
                    track.skip();
                }
            }
        }
    }
    return ranks;
}

std::string constructor_error(const std::string& path) {
    const NameTable names;
    try {
        const Exporter trace{path, parse_selection("", "", 1), names};
    } catch (const IoError& error) {
        return error.what();
    }
    return "no error";
}

/// True if `action` ends its process by an abort, which is what a broken invariant does.
template <typename Action> bool aborts(Action action) {
    const auto child = fork();
    if (child == 0) {
        std::fclose(stderr);
        action();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

} // namespace

TEST_CASE("a trace holds one begin and one end for every slice", "[unit][traces]") {
    const TestDirectory directory;
    const auto summary = write_phases(directory.file("t.pftrace"), 7, kDefaultSliceCap);
    CHECK(summary.slices == 21);
    CHECK(summary.tiles == std::vector<TileId>{0, 1});
    CHECK_FALSE(summary.truncated);
    CHECK(summary.message.empty());
    const auto counts = events_by_type(bytes_of(directory.file("t.pftrace")));
    CHECK(counts == std::map<std::int32_t, int>{{1, 21}, {2, 21}, {3, 2}}); // metadata: run, end
    CHECK(directory.names() == std::vector<std::string>{"t.pftrace"});
}

TEST_CASE("a path that ends in gz gets the same bytes compressed", "[unit][traces]") {
    const TestDirectory directory;
    write_phases(directory.file("t.pftrace"), 50, kDefaultSliceCap);
    write_phases(directory.file("t.pftrace.gz"), 50, kDefaultSliceCap);
    const auto plain = bytes_of(directory.file("t.pftrace"));
    CHECK(decompressed(directory.file("t.pftrace.gz")) == plain);
    CHECK(fs::file_size(directory.file("t.pftrace.gz")) < plain.size() / 2);
}

TEST_CASE("a first slice on the machine's track may have as many arguments as a span has room for",
          "[unit][traces]") {
    const TestDirectory directory;
    NameTable names;
    Exporter trace{directory.file("t"),
                   parse_selection("", "machine", 3),
                   names,
                   {.metadata = {.machine = "tiny"}}};
    Span span = compute(machine_track(), 0, 5);
    span.name = names.intern("work");
    for (std::size_t i = 0; i < span.args.size(); ++i) {
        span.args[i] = {static_cast<ArgKey>(kArgWords.size() - 1 - i), 1};
    }
    trace.span(span);
    static_cast<void>(trace.finish());
    const std::string bytes = bytes_of(directory.file("t"));
    for (std::size_t i = 0; i < span.args.size(); ++i) {
        CHECK(bytes.find(kArgWords[kArgWords.size() - 1 - i]) != std::string::npos);
    }
    CHECK(bytes.find("cycles") != std::string::npos);
}

TEST_CASE(
    "counters stand above links, these above the machine, it above its tiles, and these above "
    "what goes between chips",
    "[unit][traces]") {
    const TestDirectory directory;
    const NameTable names;
    Exporter trace{directory.file("t"),
                   parse_selection("all", "worker", 3),
                   names,
                   {.metadata = {.machine = "tiny"}}};
    std::vector<std::string> wanted;
    for (const Counter counter : {Counter::ActiveTiles, Counter::ExchangeBytes, Counter::WordsMoved,
                                  Counter::MemoryBytes}) {
        trace.counter({counter, 0, 1});
        wanted.emplace_back(kCounterWords[static_cast<std::size_t>(counter)]);
    }
    for (const Port port : {Port::StreamingMemory, Port::Host}) {
        for (const bool read : {true, false}) {
            trace.span(compute(port_track(port, read), 0, 5));
            wanted.push_back(path(port_track(port, read)));
        }
    }
    trace.span(compute(machine_track(), 0, 5));
    trace.span(compute(worker_track(2, 1), 0, 5));
    trace.span(compute(worker_track(0, 0), 0, 5));
    wanted.insert(wanted.end(), {"machine", "tiles"});
    for (const std::uint32_t other : {1U, 12U}) {
        for (const bool from : {false, true}) {
            trace.span(compute(link_track(from, other), 0, 5));
            wanted.push_back(path(link_track(from, other)));
        }
    }
    for (const std::uint32_t to : {1U, 12U}) {
        wanted.push_back(tessera::traces::name_of(CounterSample{Counter::EdgeBytes, 0, 1, 0, to}));
        trace.counter({Counter::EdgeBytes, 0, 1, 0, to});
    }
    static_cast<void>(trace.finish());
    auto ranks = ranks_in(bytes_of(directory.file("t")));
    for (std::size_t i = 0; i + 1 < wanted.size(); ++i) {
        CAPTURE(wanted[i], wanted[i + 1]);
        REQUIRE(ranks.count(wanted[i]) == 1);
        CHECK(ranks[wanted[i]] < ranks[wanted[i + 1]]);
    }
    CHECK(ranks["tile_0"] < ranks["tile_2"]);
    CHECK(ranks["worker_0"] < ranks["worker_1"]);
}

TEST_CASE("the same events give the same bytes", "[unit][traces]") {
    const TestDirectory directory;
    write_phases(directory.file("a.gz"), 5, kDefaultSliceCap);
    write_phases(directory.file("b.gz"), 5, kDefaultSliceCap);
    CHECK(bytes_of(directory.file("a.gz")) == bytes_of(directory.file("b.gz")));
}

TEST_CASE("a trace of exactly as many slices as the cap is not truncated", "[unit][traces]") {
    const TestDirectory directory;
    CHECK_FALSE(write_phases(directory.file("t"), 4, 12).truncated);
    CHECK(write_phases(directory.file("t"), 4, 11).truncated);
}

TEST_CASE("at the cap the tiles stop and the machine goes on", "[unit][traces]") {
    const TestDirectory directory;
    // Phases 0 and 1 make six slices, the machine's third a seventh; then tile 0 at cycle 20 is
    // refused.
    const auto summary = write_phases(directory.file("t"), 5, 7);
    CHECK(summary.truncated);
    CHECK(summary.slices == 7 + 2);
    CHECK(summary.message ==
          "the trace shows tiles only until cycle 20, where it reached 7 slices; show fewer tiles "
          "with --trace-tiles or less of each with --trace-level");
    const auto counts = events_by_type(bytes_of(directory.file("t")));
    CHECK(counts == std::map<std::int32_t, int>{{1, 9}, {2, 9}, {3, 3}});
}

TEST_CASE("at the cap the finer levels are no longer wanted", "[unit][traces]") {
    const TestDirectory directory;
    const NameTable names;
    Exporter trace{directory.file("t"),
                   parse_selection("all", "worker", 1),
                   names,
                   {.metadata = {.machine = "tiny"}, .slice_cap = 1}};
    CHECK(trace.wants(worker_track(0, 0)));
    trace.span(compute(worker_track(0, 0), 0, 5));
    trace.span(compute(worker_track(0, 0), 5, 9));
    CHECK_FALSE(trace.wants(worker_track(0, 0)));
    CHECK_FALSE(trace.wants(tile_track(0)));
    CHECK(trace.wants(machine_track()));
}

TEST_CASE("spans of tiles that are not selected are not written", "[unit][traces]") {
    const TestDirectory directory;
    const NameTable names;
    Exporter trace{directory.file("t"), parse_selection("1", "tile", 3), names};
    trace.span(compute(tile_track(0), 0, 5));
    trace.span(compute(tile_track(1), 0, 5));
    trace.span(compute(worker_track(1, 0), 0, 5));
    const auto summary = trace.finish();
    CHECK(summary.slices == 1);
    CHECK(summary.tiles == std::vector<TileId>{1});
}

TEST_CASE("traced tiles are told in order, whichever came first", "[unit][traces]") {
    const TestDirectory directory;
    const NameTable names;
    Exporter trace{directory.file("t"), parse_selection("all", "worker", 4), names};
    trace.span(compute(worker_track(3, 0), 0, 5));
    trace.span(compute(tile_track(1), 0, 5));
    trace.span(compute(worker_track(1, 0), 0, 5)); // a track of its own, beside its tile's
    const auto summary = trace.finish();
    CHECK(summary.slices == 3);
    CHECK(summary.tiles == std::vector<TileId>{1, 3});
}

TEST_CASE("a span of no cycles is counted and not written", "[unit][traces]") {
    const TestDirectory directory;
    const NameTable names;
    Exporter trace{directory.file("t"), parse_selection("all", "tile", 1), names};
    trace.span(compute(machine_track(), 0, 0));
    trace.span(compute(machine_track(), 0, 5));
    const auto summary = trace.finish();
    CHECK(summary.slices == 1);
    CHECK(summary.skipped_empty_spans == 1);
}

TEST_CASE("a path that cannot be written is found before the run", "[unit][traces]") {
    const TestDirectory directory;
    const auto missing = directory.file("no/such/t.pftrace");
    CHECK(constructor_error(missing) == missing + ": cannot be written: No such file or directory");
    const auto folder = directory.file("folder");
    fs::create_directory(folder);
    CHECK(constructor_error(folder) == folder + ": cannot be written: Is a directory");
    CHECK(constructor_error("") == ": cannot be written: No such file or directory");
}

TEST_CASE("a full disk is an error and leaves nothing behind", "[unit][traces]") {
    const NameTable names;
    for (const std::string suffix : {"", ".gz"}) {
        const TestDirectory directory;
        const auto path = directory.file("full" + suffix);
        fs::create_symlink("/dev/full", path);
        Exporter trace{path, parse_selection("", "", 1), names};
        trace.span(compute(machine_track(), 0, 5));
        CHECK_THROWS_WITH(trace.finish(), path + ": cannot be written: No space left on device");
    }
}

TEST_CASE("a trace that is not finished leaves no file", "[unit][traces]") {
    const TestDirectory directory;
    const NameTable names;
    {
        Exporter trace{directory.file("t.pftrace"), parse_selection("", "", 1), names};
        trace.span(compute(machine_track(), 0, 5));
        REQUIRE(directory.names().size() == 1);
        CHECK(directory.names().front().ends_with(".tmp"));
    }
    CHECK(directory.names().empty());
}

TEST_CASE("spans that overlap or run backwards are a broken invariant", "[unit][traces]") {
    const TestDirectory directory;
    const NameTable names;
    Exporter trace{directory.file("t"), parse_selection("all", "tile", 1), names};
    trace.span(compute(tile_track(0), 0, 10));
    CHECK(aborts([&] { trace.span(compute(tile_track(0), 9, 12)); }));
    CHECK(aborts([&] { trace.span(compute(tile_track(0), 12, 11)); }));
    CHECK(aborts([&] { trace.span(compute(tile_track(0), -1, 3)); }));
    CHECK_FALSE(aborts([&] { trace.span(compute(tile_track(0), 10, 12)); }));
}

TEST_CASE("samples of a counter that run backwards are a broken invariant", "[unit][traces]") {
    const TestDirectory directory;
    const NameTable names;
    Exporter trace{directory.file("t"), parse_selection("all", "tile", 1), names};
    const auto sample = [&](Cycles cycle, Counter counter = Counter::ActiveTiles,
                            std::uint32_t to = 0) {
        return aborts([&] { trace.counter({counter, cycle, 1, 0, to}); });
    };
    trace.counter({Counter::ActiveTiles, 10, 4});
    CHECK_FALSE(sample(10)); // in one cycle there may be several
    CHECK_FALSE(sample(11));
    CHECK(sample(9));
    CHECK(sample(-1));
    trace.counter({Counter::ActiveTiles, 20, 3});
    CHECK(sample(19));
    CHECK_FALSE(sample(20));
    // others have times of their own
    CHECK_FALSE(sample(5, Counter::EdgeBytes, 1));
    CHECK_FALSE(sample(0, Counter::EdgeBytes, 2));
    CHECK(sample(-1, Counter::EdgeBytes, 1));
}

TEST_CASE("a file says what a number stands for once, before it is used") {
    const TestDirectory directory;
    const std::string path = directory.file("t.pftrace");
    constexpr int kPhases = 5;
    write_phases(path, kPhases, 1000);
    const std::string bytes = bytes_of(path);
    std::map<std::pair<std::uint32_t, std::uint64_t>, int> defined; // by kind of word and number
    std::set<std::uint64_t> names;
    int uses = 0;
    protozero::pbf_reader trace{bytes};
    while (trace.next(1)) {
        auto packet = trace.get_message();
        const auto whole = packet;
        while (packet.next(12)) {
            auto words = packet.get_message();
            while (words.next()) {
                const std::uint32_t kind = words.tag();
                auto entry = words.get_message();
                while (entry.next()) {
                    if (entry.tag() == 1) {
                        const std::uint64_t number = entry.get_uint64();
                        ++defined[{kind, number}];
                        if (kind == 2) {
                            names.insert(number);
                        }
                    } else {
                        entry.skip();
                    }
                }
            }
        }
        packet = whole;
        while (packet.next(11)) {
            auto event = packet.get_message();
            while (event.next(10)) {
                CHECK(names.count(event.get_uint64()) == 1);
                ++uses;
            }
        }
    }
    CHECK_FALSE(defined.empty());
    CHECK(uses >= 3 * kPhases);
    for (const auto& [word, times] : defined) {
        CAPTURE(word.first, word.second);
        CHECK(times == 1);
    }
}

// SPDX-License-Identifier: MIT
// Workloads that move or compute words are refused where a rule is broken, and taken at its boundary.
#include "base/config/document.h"
#include "base/error.h"
#include "kernels/catalog/load.h"
#include "kernels/catalog/machine_check.h"
#include "models/spec/load.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace tessera;

namespace {

/// "/key: message", one behind the other; empty: the workload is good.
std::string told(const std::string& kind, const std::string& keys) {
    const std::string text =
        fmt::format(R"({{"schema_version": 1, "kind": "{}", {}}})", kind, keys);
    std::string all;
    try {
        static_cast<void>(catalog::load_workload(config::parse_document(text, "a.json"), "a.json",
                                                 {.roots = {test::source_path("configs")}}));
    } catch (const ConfigError& error) {
        for (const Diagnostic& one : error.diagnostics()) {
            all += (all.empty() ? "" : "; ") + one.pointer + ": " + one.message;
        }
    }
    return all;
}

} // namespace

TEST_CASE("messages are of whole words, between different tiles", "[unit][catalog]") {
    const auto of = [](const std::string& keys) { return told("exchange_pattern", keys); };
    const std::string words = " B, expected a multiple of 4 B (the exchange's word)";
    CHECK(of(R"("pattern": "shift", "bytes": 4)").empty());
    for (const int bytes : {5, 6, 7}) {
        CHECK(of(fmt::format(R"("pattern": "shift", "bytes": {})", bytes)) ==
              fmt::format("/bytes: got {}{}", bytes, words));
    }
    const auto point = [&](int source, int destination) {
        return of(fmt::format(
            R"("pattern": "point_to_point", "bytes": 8, "source": {}, "destination": {})", source,
            destination));
    };
    CHECK(point(3, 4).empty());
    CHECK(point(4, 3).empty());
    CHECK(point(3, 3) == "/destination: got tile 3, which is the source, expected another tile "
                         "(kind self_copy copies inside a tile)");
    CHECK(of(R"("pattern": "gather", "bytes": 8, "source": 1, "destination": 1)").empty());
    CHECK(of(R"("pattern": "pairs", "bytes": 8, "tiles": 6)").empty());
    CHECK(of(R"("pattern": "pairs", "bytes": 8, "tiles": 7)") ==
          "/tiles: got 7 tiles, expected an even number of tiles");
    CHECK(of(R"("pattern": "shift", "bytes": 8, "tiles": 7)").empty());
    // what a tile copies for itself goes by the loop
    const std::string self = R"("pattern": "all_to_all", "include_self": true, "bytes": )";
    CHECK(of(self + "12").empty());
    for (const std::string loop : {"one_worker", "paced"}) {
        const std::string by_loop = R"(, "copies": ")" + loop + "\"";
        CHECK(of(self + "16" + by_loop).empty());
        CHECK(of(self + "12" + by_loop) ==
              "/bytes: got 12 B, expected a multiple of 8 B (a word of the loop that copies)");
        CHECK(told("self_copy", R"("bytes": 12)" + by_loop) ==
              "/bytes: got 12 B, expected a multiple of 8 B (a word of the loop that copies)");
    }
    CHECK(of(R"("pattern": "all_to_all", "bytes": 12, "copies": "paced")").empty());
    CHECK(told("self_copy", R"("bytes": 12)").empty());
    CHECK(told("self_copy", R"("bytes": 10)") == "/bytes: got 10 B, expected a multiple of 4 B");
}

TEST_CASE("messages between chips are of whole words, between different chips", "[unit][catalog]") {
    const auto of = [](const std::string& keys) {
        return told("link_pattern", R"("bytes": 8, )" + keys);
    };
    CHECK(of(R"("pattern": "point_to_point", "source": 0, "destination": 1)").empty());
    CHECK(of(R"("pattern": "point_to_point", "source": 2, "destination": 2)") ==
          "/destination: got chip 2, which is the source, expected another chip");
    CHECK(of(R"("pattern": "random", "source": 2, "destination": 2)").empty());
    CHECK(told("link_pattern", R"("pattern": "random", "bytes": 6)") ==
          "/bytes: got 6 B, expected a multiple of 4 B (the exchange's word)");
}

TEST_CASE("lines of FP16 have an even number of elements, and so do their strides",
          "[unit][catalog]") {
    struct Case {
        std::string keys;
        std::string told;
    };
    const auto odd = [](const std::string& key, int elements) {
        return fmt::format("/{}: got FP16 lines of {} elements, expected an even number", key,
                           elements);
    };
    const auto gap = [](const std::string& key, int elements, int line) {
        return fmt::format(
            "/{}: got {} elements behind lines of {}, expected an even sum where FP16 "
            "takes part",
            key, elements, line);
    };
    const std::string f16 = R"(, "dtype": "f16")";
    const std::string cast = R"(, "cast": true)";
    const std::string turned = R"(, "transpose": true)";
    for (const auto& [keys, expected] : std::vector<Case>{
             {R"("rows": 3, "columns": 5)", ""},
             {R"("rows": 3, "columns": 5, "from_gap": 2, "to_gap": 1)", ""},
             {R"("rows": 3, "columns": 4)" + f16, ""},
             {R"("rows": 3, "columns": 5)" + f16, odd("columns", 5)},
             {R"("rows": 4, "columns": 5, "from_gap": 1)" + f16 + turned, ""},
             {R"("rows": 4, "columns": 5)" + f16 + turned, gap("from_gap", 0, 5)},
             {R"("rows": 3, "columns": 4)" + f16 + turned, odd("rows", 3)},
             {R"("rows": 3, "columns": 5)" + cast, odd("columns", 5)},
             {R"("rows": 3, "columns": 5)" + f16 + cast, odd("columns", 5)},
             {R"("rows": 3, "columns": 4)" + cast, ""},
             {R"("rows": 3, "columns": 4)" + cast + turned, odd("rows", 3)},
             {R"("rows": 3, "columns": 4, "to_gap": 1)" + f16 + cast + turned, ""},
             {R"("rows": 3, "columns": 4)" + f16 + cast + turned, gap("to_gap", 0, 3)},
             {R"("rows": 3, "columns": 4, "from_gap": 1)" + f16, gap("from_gap", 1, 4)},
             {R"("rows": 3, "columns": 4, "to_gap": 3)" + f16, gap("to_gap", 3, 4)},
             {R"("rows": 3, "columns": 4, "from_gap": 2, "to_gap": 4)" + f16, ""}}) {
        CAPTURE(keys);
        CHECK(told("rearrange", keys) == expected);
    }
}

TEST_CASE("copies of streaming memory are whole words, as many as a program counts",
          "[unit][catalog]") {
    const auto of = [](std::int64_t rows, std::int64_t chunk, std::int64_t repeats = 1,
                       std::int64_t row_bytes = 8) {
        return told("remote_buffer",
                    fmt::format(R"("rows": {}, "chunk_rows": {}, "repeats": {}, "row_bytes": {})",
                                rows, chunk, repeats, row_bytes));
    };
    CHECK(of(12, 4).empty());
    CHECK(of(12, 5) == "/chunk_rows: got 5 rows, expected a divisor of the 12 rows");
    CHECK(of(12, 4, 1, 10).starts_with("/row_bytes: got 10 B, expected a multiple of 4 B"));
    constexpr std::int64_t kMostCopies = 1000000;
    constexpr std::int64_t kMostRounds = 10000000;
    CHECK(of(kMostCopies, 1).empty());
    CHECK(of(kMostCopies + 1, 1) ==
          fmt::format("/chunk_rows: got 1 rows, which make {} copies, expected at most {}",
                      kMostCopies + 1, kMostCopies));
    CHECK(of(kMostCopies, 1, kMostRounds / kMostCopies).empty());
    CHECK(of(kMostCopies, 1, kMostRounds / kMostCopies + 1) ==
          fmt::format("/repeats: got {} times {} copies, expected at most {} copies in all",
                      kMostRounds / kMostCopies + 1, kMostCopies, kMostRounds));
    CHECK(told("host_transfer", R"("bytes": 6)")
              .starts_with("/bytes: got 6 B, expected a multiple of 4 B"));
    CHECK(told("host_transfer", R"("bytes": 8)").empty());
    CHECK(told("streamed_triad", R"("elements": 100, "chunk_elements": 8)").empty());
    CHECK(told("streamed_triad", R"("elements": 100, "chunk_elements": 10)") ==
          "/chunk_elements: got 10 elements, expected a multiple of 4");
}

TEST_CASE("loops over memory are of 16 bytes, and reading has no vendor's", "[unit][catalog]") {
    const auto of = [](const std::string& op, int elements, const std::string& more = "") {
        return told("memory_stream",
                    fmt::format(R"("op": "{}", "elements": {}{})", op, elements, more));
    };
    const std::string f16 = R"(, "dtype": "f16")";
    const std::string f32 = R"(, "dtype": "f32")";
    CHECK(of("copy", 12, f32).empty());
    CHECK(of("copy", 10, f32) == "/elements: got 10 elements, expected a multiple of 4 (16 B)");
    CHECK(of("copy", 16, f16).empty());
    CHECK(of("copy", 12, f16) == "/elements: got 12 elements, expected a multiple of 8 (16 B)");
    CHECK(of("read", 16, f32).empty());
    CHECK(of("read", 16, f16) == "/dtype: got f16, expected f32 for op read");
    CHECK(of("copy", 16, f32 + R"(, "codelet": "vendor")").empty());
    CHECK(of("read", 16, f32 + R"(, "codelet": "vendor")") ==
          "/codelet: got vendor, expected paced, vector or naive for op read");
}

TEST_CASE("a reduction has one sum or one for each tile, and a grid has two sides",
          "[unit][catalog]") {
    const auto of = [](int tiles, int outputs) {
        return told("reduction",
                    fmt::format(R"("operands": 4, "tiles": {}, "outputs": {})", tiles, outputs));
    };
    for (const int outputs : {0, 1, 6}) {
        CHECK(of(6, outputs).empty());
    }
    for (const int outputs : {2, 5, 7}) {
        CHECK(of(6, outputs) ==
              fmt::format("/outputs: got {} outputs, expected 1 for one sum, or 0 or 6 for one of "
                          "each tile",
                          outputs));
        CHECK(of(0, outputs).empty()); // the number of tiles is the machine's
    }
    const auto grid = [](int columns, int rows) {
        return told("stencil",
                    fmt::format(R"("width": 8, "height": 8, "grid_columns": {}, "grid_rows": {})",
                                columns, rows));
    };
    CHECK(grid(0, 0).empty());
    CHECK(grid(2, 1).empty());
    const std::string both = ": got 0, expected both sides of the grid of tiles or neither";
    CHECK(grid(0, 1) == "/grid_columns" + both);
    CHECK(grid(1, 0) == "/grid_rows" + both);
}

TEST_CASE("the largest elements of a row are at most all, and buckets keep enough of them",
          "[unit][catalog]") {
    const auto of = [](int n, int k, int buckets = 1, int kept = 1) {
        return told("top_k", fmt::format(R"("n": {}, "k": {}, "buckets": {}, "kept": {})", n, k,
                                         buckets, kept));
    };
    const auto most = [](const std::string& key, int told_number, int n) {
        return fmt::format("/{}: got {}, expected at most {}, the elements of a row", key,
                           told_number, n);
    };
    CHECK(of(8, 8).empty());
    CHECK(of(8, 9) == most("k", 9, 8));
    CHECK(of(8, 8, 8, 1).empty());
    CHECK(of(8, 1, 9, 1) == most("buckets", 9, 8));
    CHECK(of(8, 1, 2, 16) == most("kept", 16, 8));
    CHECK(of(8, 1, 2, 3) == "/kept: got 3, expected a power of two");
    CHECK(of(8, 1, 1, 2) == "/kept: got 2 without buckets, expected none");
    CHECK(of(8, 4, 2, 2).empty());
    CHECK(of(8, 5, 2, 2) == "/kept: got 2 of each of 2 buckets, which are 4 elements, expected at "
                            "least 5, which is k");
    // 9 elements in 2 buckets are 5 and 4, of which four and four are kept
    CHECK(of(9, 8, 2, 4).empty());
    CHECK(of(9, 9, 2, 8).empty()); // no bucket has eight
}

TEST_CASE("workloads of several chips and machines of several go together", "[unit][catalog]") {
    const config::ConfigPaths paths{.roots = {test::source_path("configs")}};
    const auto told_of = [&](const std::string& machine, const std::string& workload) {
        const auto found = catalog::mistakes_on(spec::load_machine(machine, paths),
                                                catalog::load_workload(workload, paths));
        return found.empty() ? ""
                             : found.front().pointer + ": " + found.front().message + "; " +
                                   found.front().hint;
    };
    CHECK(told_of("tiny", "tiny_matmul").empty());
    CHECK(told_of("tiny4", "collective").empty());
    CHECK(told_of("tiny2", "link_pattern").empty());
    CHECK(
        told_of("tiny", "collective") ==
        "/kind: workload collective is of several chips, and machine tiny has one; --machine tiny4 "
        "has four small ones; --set system.chips=4 gives any machine four");
    CHECK(
        told_of("tiny4", "tiny_matmul") ==
        "/system/chips: machine tiny4 has 4 chips, and workload tiny_matmul is of one chip; --set "
        "system.chips=1 runs it on one of them");
}

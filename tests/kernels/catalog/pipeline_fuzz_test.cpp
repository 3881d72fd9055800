// SPDX-License-Identifier: MIT
// Broken pipelines are refused, and nothing worse.
#include "kernels/workload/random.h"
#include "tests/kernels/catalog/pipeline_support.h"

#include <catch2/catch.hpp>

#include <cstdint>

using namespace tessera;
using namespace tessera::test;

namespace {

const char* const kWhole = R"({"schema_version": 1, "kind": "pipeline", "seed": 3,
"tensors": {"s": {"shape": [16, 16], "block": 16, "pattern": {"generator": "banded", "density": 1}},
            "x": {"shape": [16, 8], "layout": "row_major", "grain_bytes": 64}, "w": {"shape": [8, 8]}},
"steps": [{"family": "spmm", "inputs": ["s", "x"], "output": "h", "partials": "f32"},
          {"repeat": 3, "steps": [{"family": "matmul", "inputs": ["h", "w"], "output": "h2"},
                                  {"name": "back", "family": "relu", "inputs": ["h2"], "output": "h"}]},
          {"parallel": [{"tiles": 4, "steps": [{"family": "gelu", "inputs": ["h"], "output": "p"}]},
                        {"tiles": 2, "steps": [{"family": "relu", "inputs": ["h2"], "output": "q"}]}]}]})";

/// True if it loads. Anything but ConfigError fails the test that calls it.
bool loads(const std::string& text) {
    try {
        static_cast<void>(load_text(text));
        return true;
    } catch (const ConfigError& error) {
        CHECK(!error.diagnostics().empty());
        return false;
    }
}

/// Every value of a document, by its JSON pointer.
void collect(const nlohmann::json& value, const std::string& pointer, Lines& out) {
    out.push_back(pointer);
    if (value.is_structured()) {
        for (const auto& [key, inner] : value.items()) {
            collect(inner, config::child_pointer(pointer, key), out);
        }
    }
}

} // namespace

TEST_CASE("a pipeline that ends too early is refused", "[unit][catalog]") {
    const std::string whole = kWhole;
    REQUIRE(loads(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CHECK_FALSE(loads(whole.substr(0, size)));
    }
}

TEST_CASE("a pipeline with one part replaced by another does not crash", "[unit][catalog]") {
    const auto whole = nlohmann::json::parse(kWhole);
    Lines pointers;
    collect(whole, "", pointers);
    const std::vector<nlohmann::json> others{nullptr,
                                             true,
                                             -1,
                                             1e300,
                                             "",
                                             "s",
                                             "h",
                                             "a/b~.c",
                                             nlohmann::json::array(),
                                             nlohmann::json::object(),
                                             nlohmann::json::array({nullptr, 1, "x"}),
                                             whole};
    std::size_t loaded = 0;
    for (const auto& at : pointers) {
        for (const auto& other : others) {
            auto broken = whole;
            broken[nlohmann::json::json_pointer(at)] = other;
            loaded += loads(broken.dump()) ? 1U : 0U;
        }
        if (at.empty()) {
            continue;
        }
        auto without = whole;
        const nlohmann::json::json_pointer here(at);
        auto& around = without[here.parent_pointer()];
        if (around.is_array()) {
            around.erase(std::stoul(here.back()));
        } else {
            around.erase(here.back());
        }
        loaded += loads(without.dump()) ? 1U : 0U;
    }
    CHECK(loaded > 10); // names, other values of the same type
}

TEST_CASE("a pipeline with shuffled parts does not crash", "[unit][catalog]") {
    const auto whole = nlohmann::json::parse(kWhole);
    Lines pointers;
    collect(whole, "", pointers);
    const workload::CounterRandom random(1, 2);
    std::uint64_t drawn = 0;
    const auto draw = [&] {
        return nlohmann::json::json_pointer(pointers[random.below(pointers.size(), drawn++)]);
    };
    for (int round = 0; round < 2000; ++round) {
        auto broken = whole;
        for (int swaps = 0; swaps < 3; ++swaps) {
            const auto from = draw();
            const auto to = draw();
            if (broken.contains(from) && broken.contains(to)) {
                const auto moved = broken.at(from);
                broken[to] = moved;
            }
        }
        static_cast<void>(loads(broken.dump()));
    }
    SUCCEED("no crash");
}

TEST_CASE("deep and long pipelines are refused or read in good time", "[unit][catalog]") {
    std::string deep = R"({"family": "relu", "inputs": ["x"], "output": "y"})";
    for (int depth = 0; depth < 100; ++depth) {
        deep = R"({"repeat": 2, "steps": [)" + deep + "]}";
    }
    CHECK_FALSE(loads(with_steps(deep))); // nested too deep

    std::string unknown;
    for (int step = 0; step < 3000; ++step) {
        unknown +=
            (step == 0 ? "" : ",") +
            fmt::format(R"({{"family": "relu", "inputs": ["t{}"], "output": "u{}"}})", step, step);
    }
    const auto found = mistakes(with_steps(unknown));
    CHECK(found.size() > 2000);
}

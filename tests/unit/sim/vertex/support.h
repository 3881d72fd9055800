// SPDX-License-Identifier: MIT
// Vertex files written by tests, in a folder that goes away with the test.
#pragma once

#include "base/error.h"
#include "kernels/vertex/spec.h"
#include "sim/vertex/bench.h"
#include "sim/vertex/run.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace tessera::test {

class VertexFolder {
public:
    VertexFolder()
        : path_(std::filesystem::temp_directory_path() /
                ("tessera_vertex_" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path_);
        write("code.S", "        .worker\n        .globl stop\nstop:\n        exitz $mzero\n"
                        "        .supervisor\n        .globl back\nback:\n        br $lr\n");
    }
    ~VertexFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    VertexFolder(const VertexFolder&) = delete;
    VertexFolder& operator=(const VertexFolder&) = delete;

    [[nodiscard]] std::string path(const std::string& name) const {
        return (path_ / name).string();
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }

    /// A file that has the keys of `inner` beside its version, source and entry.
    vertex::LoadedVertex load(const std::string& inner,
                              const std::vector<std::string>& sets = {}) const {
        write("v.json", R"({"schema_version": 1, "sources": ["code.S"], )" + inner + "}");
        return vertex::load_vertex(path("v.json"), sets);
    }
    [[nodiscard]] vertex::Bench bench(const std::string& inner,
                                      const spec::MachineSpec& machine = {}) const {
        const auto loaded = load(inner + R"(, "entry": "stop", "kind": "multi_worker")");
        return vertex::lay_out(loaded, machine, vertex::points_of(loaded).front(), {});
    }

    /// The mistakes of a file, one a line: "/pointer: message; hint".
    template <class Action> static std::string mistakes(Action action) {
        try {
            action();
        } catch (const ConfigError& error) {
            std::string text;
            for (const auto& found : error.diagnostics()) {
                text += (text.empty() ? "" : "\n") + found.pointer + ": " + found.message +
                        (found.hint.empty() ? "" : "; " + found.hint);
            }
            return text;
        }
        return "accepted";
    }
    [[nodiscard]] std::string refusal(const std::string& inner,
                                      const std::vector<std::string>& sets = {}) const {
        return mistakes([&] {
            static_cast<void>(load(inner + R"(, "entry": "stop", "kind": "multi_worker")", sets));
        });
    }
    [[nodiscard]] std::string bench_refusal(const std::string& inner) const {
        return mistakes([&] { static_cast<void>(bench(inner)); });
    }

private:
    std::filesystem::path path_;
};

/// Element `index` of the little-endian words that a segment of the image holds.
inline std::uint32_t word_of(const vertex::Bench& bench, const std::string& segment,
                             std::size_t index) {
    for (const auto& held : bench.image.segments) {
        if (held.name == segment) {
            std::uint32_t word = 0;
            for (std::size_t i = 0; i < 4; ++i) {
                word |= std::to_integer<std::uint32_t>(held.data->at(4 * index + i)) << (8 * i);
            }
            return word;
        }
    }
    throw ProgramError("no segment " + segment);
}

inline const vertex::BenchArray& array_of(const vertex::Bench& bench, const std::string& name) {
    for (const auto& array : bench.arrays) {
        if (array.name == name) {
            return array;
        }
    }
    throw ProgramError("no array " + name);
}

inline std::vector<double> initial_of(const vertex::Bench& bench, const std::string& name) {
    const auto& array = array_of(bench, name);
    return vertex::element_values(*array.type, array.initial);
}

} // namespace tessera::test

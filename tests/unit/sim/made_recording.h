// SPDX-License-Identifier: MIT
// A recording that a test puts together by hand.
#pragma once

#include "sim/recording/format.h"
#include "sim/recording/read.h"
#include "tests/support/scratch_folder.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

inline constexpr std::uint32_t kNoPart = 4'294'967'295U; ///< the begin of a tile that has none

/// A file of recordings that is put together by hand.
struct Made {
    nlohmann::json header{
        {"schema_version", recording::kSchemaVersion},
        {"tiles", 20},
        {"cycles", 10'000},
        {"clock_hz", 1e9},
        {"last", 0U},
        {"chips", nlohmann::json::array({{{"steps", nlohmann::json::array()},
                                          {"tiles_by_kind", nlohmann::json::object()}}})}};
    std::string arrays;
    ScratchFolder scratch;

    /// The part of the chip that ends last.
    [[nodiscard]] nlohmann::json& chip() { return header["chips"][header["last"].get<unsigned>()]; }
    template <class Number> nlohmann::json add(const std::vector<Number>& numbers) {
        const nlohmann::json place{{"type", sizeof(Number) == 4 ? "u32" : "f64"},
                                   {"offset", arrays.size()}};
        arrays.append(reinterpret_cast<const char*>(numbers.data()),
                      numbers.size() * sizeof(Number));
        return place;
    }
    void add_step(const char* kind, int index, nlohmann::json columns) {
        chip()["steps"].push_back(
            {{"kind", kind}, {"index", index}, {"columns", std::move(columns)}});
    }
    [[nodiscard]] std::filesystem::path written(std::size_t cut_off = 0) const {
        const std::string text = header.dump();
        const auto length = static_cast<std::uint32_t>(text.size());
        std::string bytes(recording::kMagic);
        bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
        bytes += text + arrays;
        return scratch.write(recording::kFile, bytes.substr(0, bytes.size() - cut_off));
    }
    [[nodiscard]] recording::Recording read() const { return recording::Recording(written()); }
};

} // namespace tessera::test

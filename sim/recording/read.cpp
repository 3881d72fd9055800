// SPDX-License-Identifier: MIT
#include "sim/recording/read.h"

#include "base/error.h"
#include "sim/recording/format.h"
#include "sim/result/result_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

namespace tessera::recording {
namespace {

using nlohmann::json;

/// What the file holds, whether it is compressed or not.
std::string content_of(const std::filesystem::path& file) {
    struct Close {
        void operator()(gzFile_s* opened) const { gzclose(opened); }
    };
    const std::unique_ptr<gzFile_s, Close> opened(gzopen(file.c_str(), "rb"));
    if (opened == nullptr) {
        throw IoError(fmt::format("cannot read '{}': {}", file.string(), std::strerror(errno)));
    }
    constexpr std::size_t kPart = std::size_t{1} << 20U;
    std::string bytes;
    while (true) {
        const std::size_t before = bytes.size();
        bytes.resize(before + kPart);
        const int got = gzread(opened.get(), bytes.data() + before, kPart);
        int error = Z_OK; // of a file that is cut off, at its end
        static_cast<void>(gzerror(opened.get(), &error));
        if (got < 0 || error == Z_BUF_ERROR) {
            throw IoError(fmt::format("cannot read '{}': it is damaged or cut off", file.string()));
        }
        bytes.resize(before + static_cast<std::size_t>(got));
        if (got == 0) {
            return bytes;
        }
    }
}

template <class Number> std::vector<double> read_as(std::string_view bytes, std::size_t count) {
    std::vector<double> numbers;
    numbers.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        Number number{};
        std::memcpy(&number, bytes.data() + i * sizeof(Number), sizeof number);
        numbers.push_back(static_cast<double>(number));
    }
    return numbers;
}

} // namespace

Recording::Recording(const std::filesystem::path& file) : file_(file), bytes_(content_of(file)) {
    const auto refuse = [&](const char* why) {
        throw IoError(fmt::format("'{}' is no recording: {}", file_.string(), why));
    };
    std::uint32_t length = 0;
    if (bytes_.size() < kMagic.size() + sizeof length ||
        bytes_.compare(0, kMagic.size(), kMagic) != 0) {
        refuse("it does not begin as one");
    }
    std::memcpy(&length, bytes_.data() + kMagic.size(), sizeof length);
    const std::size_t begin = kMagic.size() + sizeof length;
    if (bytes_.size() - begin < length) {
        refuse("its header is cut off");
    }
    arrays_begin_ = begin + length;
    header_ = json::parse(std::string_view(bytes_).substr(begin, length), nullptr, false);
    if (!header_.is_object()) {
        refuse("its header is no JSON object");
    }
    if (header_.value("schema_version", json()) != kSchemaVersion) {
        refuse("its version is another one");
    }
    constexpr std::size_t kMostTiles = 1U << 20U;
    const json tiles = header_.value("tiles", json());
    if (!tiles.is_number_unsigned() || tiles < 1 || tiles > kMostTiles) {
        refuse("it does not say how many tiles there are");
    }
    tiles_ = tiles.get<std::size_t>();
    if (!header_.contains("chips") || !header_["chips"].is_array() ||
        header_.value("last", json()).type() != json::value_t::number_unsigned ||
        header_["last"] >= header_["chips"].size()) {
        refuse("it does not say which chips there are");
    }
    const auto is_step = [](const json& step) {
        return step.is_object() && step.contains("kind") && step.contains("index") &&
               step.contains("columns") && step["columns"].is_object();
    };
    for (const json& chip : header_["chips"]) {
        if (!chip.is_object() || !chip.contains("steps") || !chip["steps"].is_array() ||
            !std::all_of(chip["steps"].begin(), chip["steps"].end(), is_step)) {
            refuse("its list of steps is not whole");
        }
        for (const json& step : chip["steps"]) {
            if (!step["columns"].contains("cycles")) {
                refuse("a step has no cycles");
            }
            for (const json& column : step["columns"]) {
                static_cast<void>(place_of(column, tiles_));
            }
            check_events(step, "pairs", 1);
        }
        if (!chip.contains("tiles_by_kind") || !chip["tiles_by_kind"].is_object()) {
            refuse("it does not say what tiles spend cycles on");
        }
        for (const json& kind : chip["tiles_by_kind"]) {
            static_cast<void>(place_of(kind, tiles_));
        }
        for (const char* const events : {"executions", "releases", "window"}) {
            check_events(chip, events, tiles_);
        }
    }
}

/// Checks that the arrays of a table are there, where `of` has it. Arrays by tile have so many
/// numbers for each event.
void Recording::check_events(const json& of, const char* table, std::size_t of_tiles) const {
    const auto found = of.find(table);
    if (found == of.end()) {
        return;
    }
    const json count = found->is_object() ? found->value("count", json()) : json();
    if (!count.is_number_unsigned() || count > arrays().size()) { // each event has a byte at least
        throw IoError(fmt::format("'{}' is no recording: its table '{}' has no count",
                                  file_.string(), table));
    }
    for (const auto& [key, place] : found->items()) {
        const bool is_by_tile = key.starts_with("tile_");
        if (place.is_object()) {
            static_cast<void>(
                place_of(place, count.get<std::size_t>() * (is_by_tile ? of_tiles : 1)));
        }
    }
}

const json& Recording::chip() const {
    return header_.at("chips").at(header_.at("last").get<std::size_t>());
}

bool Recording::is_of(const json& result) const {
    const auto same = [&](const char* key, const char* pointer) {
        const json::json_pointer at(pointer);
        return !result.contains(at) || result.at(at) == header_.value(key, json());
    };
    for (const auto& [list, kind] : result::kStepLists) {
        if (result.contains(list) && result.at(list).is_array() &&
            !has_executions_of(result.at(list), kind)) {
            return false;
        }
    }
    // names may be labels, by which several runs are told apart
    return same("cycles", "/cycles") && same("tiles", "/machine/chip/tiles") &&
           same("clock_hz", "/machine/chip/clock_hz");
}

bool Recording::has_executions_of(const json& list, std::string_view kind) const {
    std::size_t steps = 0;
    for (const json& one : chip().at("steps")) {
        if (one.at("kind") != kind) {
            continue;
        }
        if (one.at("index") != steps || steps >= list.size() || !list.at(steps).is_object() ||
            list.at(steps).value("executions", json()) != one.value("executions", json())) {
            return false;
        }
        ++steps;
    }
    return steps == list.size();
}

const json* Recording::step(std::string_view kind, std::size_t index) const {
    for (const json& one : chip().at("steps")) {
        if (one.at("kind") == kind && one.at("index") == index) {
            return &one;
        }
    }
    return nullptr;
}

std::string_view Recording::place_of(const json& place, std::size_t count) const {
    if (place.is_number()) {
        return {};
    }
    const bool is_place = place.is_object() && place.contains("type") && place.contains("offset") &&
                          place["offset"].is_number_unsigned() &&
                          (place["type"] == kU32 || place["type"] == kF64);
    const std::string_view all = arrays();
    if (is_place) {
        const std::size_t size = place["type"] == kF64 ? sizeof(double) : sizeof(std::uint32_t);
        const auto offset = place["offset"].get<std::size_t>();
        if (offset <= all.size() && count <= (all.size() - offset) / size) {
            return all.substr(offset);
        }
    }
    throw IoError(fmt::format("'{}' is damaged: an array is not there", file_.string()));
}

std::vector<double> Recording::numbers(const json& place, std::size_t count) const {
    if (place.is_number()) {
        return std::vector<double>(count, place.get<double>());
    }
    const std::string_view bytes = place_of(place, count);
    return place["type"] == kU32 ? read_as<std::uint32_t>(bytes, count)
                                 : read_as<double>(bytes, count);
}

} // namespace tessera::recording

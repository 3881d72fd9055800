// SPDX-License-Identifier: MIT
// Reads a recording. docs/formats/recording.md has its format.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::recording {

/// A recording in memory. Its columns are read when they are asked for.
class Recording {
public:
    /// @throws IoError where the file cannot be read, or is no whole recording of this version
    explicit Recording(const std::filesystem::path& file);

    /// The part of the header that is about the chip that ends last, as steps of a result are.
    [[nodiscard]] const nlohmann::json& chip() const;
    [[nodiscard]] std::size_t tiles() const { return tiles_; }
    /// All that the file has, not compressed; the recording is used up.
    [[nodiscard]] std::string take_bytes() && { return std::move(bytes_); }
    /// Whether it is of the run of a result, as far as both tell.
    [[nodiscard]] bool is_of(const nlohmann::json& result) const;
    /// What that part has of a step; null where it has nothing.
    [[nodiscard]] const nlohmann::json* step(std::string_view kind, std::size_t index) const;
    /// Behind the header: what offsets count from.
    [[nodiscard]] std::string_view arrays() const {
        return std::string_view(bytes_).substr(arrays_begin_);
    }
    /// The numbers that a place in the header says: `count` equal ones, or an array.
    /// @throws IoError where that reaches beyond the file
    [[nodiscard]] std::vector<double> numbers(const nlohmann::json& place, std::size_t count) const;

private:
    void check_events(const nlohmann::json& of, const char* table, std::size_t of_tiles) const;
    [[nodiscard]] bool has_executions_of(const nlohmann::json& list, std::string_view kind) const;
    /// Finds the bytes of an array of `count` numbers; none of equal ones. @throws IoError
    [[nodiscard]] std::string_view place_of(const nlohmann::json& place, std::size_t count) const;

    std::filesystem::path file_;
    std::string bytes_;
    nlohmann::json header_;
    std::size_t arrays_begin_ = 0;
    std::size_t tiles_ = 0;
};

} // namespace tessera::recording

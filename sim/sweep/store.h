// SPDX-License-Identifier: MIT
// Where results of points stand: a folder of files with one JSON object a line, each file written
// by one process alone, at its end alone. A line that was not finished is none; everything before it
// counts. No locks, so that the folder may be on a file system that many machines share.
//
// A point's line has at least `key` (point_key.h), `status` and, where it is "ok", `result`: what
// two runs of the same point agree on.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <unordered_map>

namespace tessera::sweep {

inline constexpr const char* kOkStatus = "ok";

/// Adds lines to a file of its own in the store.
class StoreWriter {
public:
    /// Makes the folder if it is not there. @throws IoError
    explicit StoreWriter(const std::filesystem::path& folder);
    ~StoreWriter();
    StoreWriter(const StoreWriter&) = delete;
    StoreWriter& operator=(const StoreWriter&) = delete;

    /// On disk when it returns. @throws IoError, and then the file is as before
    void append(const nlohmann::json& point);

    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

private:
    std::filesystem::path file_;
    int descriptor_ = -1;
    bool is_whole_ = true; ///< it ends with a line's end
};

/// Calls `point` for every line of every file, files by name, lines in their order. What is
/// unfinished at the end of a file is left out. No folder, no lines. @throws IoError where a file
/// cannot be read or a line that is finished is no point, with its place
void for_each_point(const std::filesystem::path& folder,
                    const std::function<void(const nlohmann::json& point)>& point);

/// What a store knows, without the results themselves: about 150 bytes a point.
class KnownPoints {
public:
    KnownPoints() = default;
    /// @throws IoError as above; also where one key has two different results, which is a bug that
    /// must not be hidden
    explicit KnownPoints(const std::filesystem::path& folder);

    /// The status, or null where the point has not run. What was ok once stays ok; else the last
    /// that was said.
    [[nodiscard]] const std::string* status(const std::string& key) const;
    [[nodiscard]] std::size_t size() const { return points_.size(); }

    /// One more point, as the store has it. @throws IoError as above
    void add(const nlohmann::json& point);

private:
    struct Known {
        std::string status;
        std::uint64_t result = 0; ///< a hash of it
    };
    std::unordered_map<std::string, Known> points_;
};

} // namespace tessera::sweep

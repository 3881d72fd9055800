// SPDX-License-Identifier: MIT
// Where results of points stand: a folder of files with one JSON object a line, each file written
// by one process alone, at its end alone. A line that was not finished is none; everything before it
// counts. No locks, so that the folder may be on a file system that many machines share.
//
// A point's line has at least `key` (point_key.h), `status` and, where it is "ok", `result`: what
// two runs of the same point agree on.
#pragma once

#include "sim/sweep/line_name.h"
#include "sim/sweep/point_key.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::sweep {

inline constexpr const char* kOkStatus = "ok";

/// The folder of a store that has its frozen sweeps (frozen.h).
inline constexpr const char* kFrozenFolder = "sweeps";

/// Whether a folder has points or frozen sweeps.
[[nodiscard]] bool is_store(const std::filesystem::path& folder);
/// @throws IoError where there is no store, or it cannot be read
void need_store(const std::filesystem::path& folder);

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
    /// The same of a line as it stands in another store, without its end; on disk after sync().
    void append_line(std::string_view line);
    void sync();

    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

private:
    std::filesystem::path file_;
    int descriptor_ = -1;
    bool is_whole_ = true; ///< it ends with a line's end
};

/// One line of a store, good until the next is read.
class PointLine {
public:
    virtual ~PointLine() = default;

    [[nodiscard]] const PointKey& key() const { return key_; }
    [[nodiscard]] const std::string& status() const { return status_; }
    [[nodiscard]] bool is_ok() const { return status_ == kOkStatus; }
    [[nodiscard]] std::string_view text() const { return text_; }
    [[nodiscard]] virtual LineName name() const = 0;
    [[nodiscard]] LineId id() const { return {key_, name()}; }
    /// What it hands out by the keys to it, for example {"result", "plan", "chunks"}. Truths are 1
    /// and 0.
    [[nodiscard]] virtual Value at(const std::vector<std::string>& keys) const = 0;
    [[nodiscard]] virtual bool has(const std::string& key) const = 0;
    /// The text of what stands at a key; empty where there is nothing.
    [[nodiscard]] virtual std::string raw(const std::string& key) const = 0;
    /// Every value below a key by its path, `plan.chunks`.
    virtual void for_each_value(
        const std::string& key,
        const std::function<void(const std::string& path, Value value)>& visit) const = 0;

protected:
    void set(const PointKey& key, std::string_view status, std::string_view text) {
        key_ = key;
        status_ = status;
        text_ = text;
    }

private:
    PointKey key_;
    std::string status_;
    std::string_view text_;
};

/// Lines of a store that are no points, and are left out.
struct Damage {
    std::int64_t lines = 0;
    std::vector<std::string> examples; ///< the first few, with their places

    void add(std::string example);
    void add(const Damage& other);
    /// A warning each for the examples, and one for the others.
    [[nodiscard]] std::vector<std::string> warnings() const;
};

/// Calls `point` for every line of every regular file, files by name, lines in their order. What is
/// unfinished at the end of a file is left out, and so is a line that is no point: an object with
/// `key`, `status` and, where that is "ok", `result`. No folder, no lines. @throws IoError where a
/// file cannot be read
Damage for_each_point(const std::filesystem::path& folder,
                      const std::function<void(const PointLine& point)>& point);

/// What a store knows, without the results themselves: about 200 bytes a point.
class KnownPoints {
public:
    struct Known {
        std::uint64_t result = 0; ///< a hash of it
        std::uint8_t status = 0;  ///< in statuses
        bool has_lists = false;
    };
    /// What a line says.
    struct Line {
        bool is_ok = false;
        bool has_lists = false;
        bool has_contents = false; ///< older versions do not write them
    };
    /// What a workload's points took.
    struct Times {
        double seconds = 0;
        std::int64_t points = 0;
    };

    KnownPoints() = default;
    /// @throws IoError as above; also where one key has two different results, which is a bug that
    /// must not be hidden
    explicit KnownPoints(const std::filesystem::path& folder);

    /// Null where the point has not run. What was ok once stays ok; else the last that was said.
    [[nodiscard]] const Known* find(const PointKey& key) const;
    /// The same, its status.
    [[nodiscard]] const std::string* status(const PointKey& key) const;
    /// Null where no line has that name and content.
    [[nodiscard]] const Line* find(const LineId& id) const;
    [[nodiscard]] std::size_t size() const { return points_.size(); }
    [[nodiscard]] const std::set<std::int64_t>& models() const { return models_; }
    /// By workload, of points that are ok.
    [[nodiscard]] const std::map<std::string, Times>& times() const { return times_; }
    [[nodiscard]] const Damage& damage() const { return damage_; }

    /// One more line. True where it is new or says more than what was known under its name. @throws
    /// IoError as above
    bool add(const PointLine& point);

private:
    std::uint8_t number_of(const std::string& status);
    void add_to_point(const PointLine& point);

    std::unordered_map<PointKey, Known, PointKey::Hash> points_;
    std::unordered_map<LineId, Line, LineId::Hash> lines_;
    std::vector<std::string> statuses_;
    std::set<std::int64_t> models_;
    std::map<std::string, Times> times_;
    Damage damage_;
};

/// @throws IoError where a store has points of another version of the model, which are not what this
/// program would give
void refuse_other_models(const KnownPoints& known, const std::filesystem::path& folder, int model);

} // namespace tessera::sweep

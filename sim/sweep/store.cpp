// SPDX-License-Identifier: MIT
#include "sim/sweep/store.h"

#include "base/config/json_text.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <simdjson.h>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kEnding = ".jsonl";

std::string error_text() {
    return std::strerror(errno);
}

/// "node-1234-0": no other process has it now, and no file of it yet.
std::string writer_name(int attempt) {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0 || host.front() == '\0') {
        host = {'h', 'o', 's', 't'};
    }
    return fmt::format("{}-{}-{}", host.data(), getpid(), attempt);
}

/// The whole lines of a file with their numbers, from 1; a part at the end is left out.
template <class Line> void for_each_line(const fs::path& path, const Line& line) {
    InputFile file(path);
    std::string bytes;
    std::int64_t number = 0;
    while (true) {
        const std::size_t rest = bytes.size();
        file.append_to(bytes, kMiB);
        if (bytes.size() == rest) {
            return;
        }
        std::size_t begin = 0;
        for (std::size_t end = bytes.find('\n', rest); end != std::string::npos;
             end = bytes.find('\n', begin)) {
            line(std::string_view(bytes).substr(begin, end - begin), ++number);
            begin = end + 1;
        }
        bytes.erase(0, begin);
    }
}

/// A line as simdjson reads it.
class ReadLine final : public PointLine {
public:
    /// False where it is no point.
    bool read(std::string_view line) {
        padded_.assign(line);
        padded_.reserve(line.size() + simdjson::SIMDJSON_PADDING);
        std::string_view key;
        std::string_view status;
        if (parser_.parse(padded_.data(), padded_.size(), false).get(root_) != simdjson::SUCCESS ||
            root_["key"].get(key) != simdjson::SUCCESS ||
            root_["status"].get(status) != simdjson::SUCCESS || status.empty() ||
            (status == kOkStatus && !has("result"))) {
            return false;
        }
        name_.reset();
        const auto known = PointKey::from(key);
        set(known.value_or(PointKey{}), status, line);
        return known.has_value();
    }

    LineName name() const override {
        if (!name_) {
            Settings settings;
            for_each_value("changes", [&](const std::string& path, Value value) {
                settings.emplace_back(path, std::move(value));
            });
            name_ = line_name(value_text(at({"machine"})), value_text(at({"workload"})),
                              value_text(at({"mode"})), std::move(settings));
        }
        return *name_;
    }

    Value at(const std::vector<std::string>& keys) const override {
        simdjson::dom::element at = root_;
        for (const std::string& key : keys) {
            if (!at.is_object() || at[key].get(at) != simdjson::SUCCESS) {
                return std::nullopt;
            }
        }
        return value_of(at);
    }

    bool has(const std::string& key) const override {
        simdjson::dom::element found;
        return root_[key].get(found) == simdjson::SUCCESS;
    }

    std::string raw(const std::string& key) const override {
        simdjson::dom::element found;
        return root_[key].get(found) == simdjson::SUCCESS ? simdjson::minify(found) : std::string();
    }

    void
    for_each_value(const std::string& key,
                   const std::function<void(const std::string&, Value)>& visit) const override {
        simdjson::dom::element found;
        if (root_[key].get(found) == simdjson::SUCCESS) {
            std::string path;
            visit_values(path, found, visit);
        }
    }

private:
    static Value value_of(const simdjson::dom::element& element) {
        switch (element.type()) {
        case simdjson::dom::element_type::INT64:
        case simdjson::dom::element_type::UINT64:
        case simdjson::dom::element_type::DOUBLE:
            return double(element);
        case simdjson::dom::element_type::BOOL:
            return bool(element) ? 1.0 : 0.0;
        case simdjson::dom::element_type::STRING:
            return std::string(std::string_view(element));
        case simdjson::dom::element_type::ARRAY:
            return list_text(element);
        default:
            return std::nullopt;
        }
    }

    static std::string list_text(const simdjson::dom::element& list) {
        std::vector<Value> values;
        for (const simdjson::dom::element& one : simdjson::dom::array(list)) {
            values.push_back(value_of(one));
        }
        return sweep::list_text(values);
    }

    static void visit_values(std::string& path, const simdjson::dom::element& element,
                             const std::function<void(const std::string&, Value)>& visit) {
        if (!element.is_object()) {
            if (Value value = value_of(element)) {
                visit(path, std::move(value));
            }
            return;
        }
        const std::size_t length = path.size();
        for (const auto& [key, inner] : simdjson::dom::object(element)) {
            path += length == 0 ? "" : ".";
            path += key;
            visit_values(path, inner, visit);
            path.resize(length);
        }
    }

    simdjson::dom::parser parser_;
    simdjson::dom::element root_;
    mutable std::optional<LineName> name_;
    std::string padded_;
};

} // namespace

StoreWriter::StoreWriter(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        throw IoError(folder.string() + ": " + error.message());
    }
    for (int attempt = 0; descriptor_ < 0; ++attempt) {
        file_ = folder / (writer_name(attempt) + kEnding);
        descriptor_ = open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) {
            throw IoError(file_.string() + ": " + error_text());
        }
    }
}

StoreWriter::~StoreWriter() {
    close(descriptor_);
}

void StoreWriter::append(const Json& point) {
    append_line(config::text_of_json(point));
    sync();
}

void StoreWriter::append_line(std::string_view text) {
    if (!is_whole_) {
        throw IoError(file_.string() + ": its last line was not finished, nothing can follow it");
    }
    std::string line(text);
    line += '\n';
    const off_t before = lseek(descriptor_, 0, SEEK_END);
    std::size_t written = 0;
    while (written < line.size()) {
        const ssize_t now = write(descriptor_, line.data() + written, line.size() - written);
        if (now < 0 && errno == EINTR) {
            continue;
        }
        if (now < 0) {
            const std::string why = error_text();
            is_whole_ = ftruncate(descriptor_, before) == 0;
            throw IoError(file_.string() + ": " + why);
        }
        written += static_cast<std::size_t>(now);
    }
}

void StoreWriter::sync() {
    if (fdatasync(descriptor_) != 0 && errno != EINVAL) { // no disk, nothing to wait for
        throw IoError(file_.string() + ": " + error_text());
    }
}

void Damage::add(std::string example) {
    constexpr std::size_t kExamples = 3;
    ++lines;
    if (examples.size() < kExamples) {
        examples.push_back(std::move(example));
    }
}

void Damage::add(const Damage& other) {
    const auto more = other.lines - static_cast<std::int64_t>(other.examples.size());
    for (const std::string& example : other.examples) {
        add(example);
    }
    lines += more;
}

std::vector<std::string> Damage::warnings() const {
    std::vector<std::string> texts = examples;
    const auto more = lines - static_cast<std::int64_t>(examples.size());
    if (more > 0) {
        texts.push_back(
            fmt::format("{} more lines are no points, and are left out", grouped(more)));
    }
    return texts;
}

bool is_store(const fs::path& folder) {
    std::error_code error;
    if (fs::is_directory(folder / kFrozenFolder, error)) {
        return true;
    }
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        if (entry->path().extension() == kEnding) {
            return true;
        }
    }
    return false;
}

void need_store(const fs::path& folder) {
    std::error_code error;
    const fs::directory_iterator entries(folder, error);
    if (error == std::errc::permission_denied) {
        throw IoError(folder.string() + ": " + error.message());
    }
    if (!is_store(folder)) {
        throw IoError(folder.string() + ": no store there; `tessera sweep run` makes one");
    }
}

Damage for_each_point(const fs::path& folder, const std::function<void(const PointLine&)>& point) {
    Damage damage;
    std::vector<fs::path> files;
    std::error_code error;
    if (!fs::exists(folder, error)) {
        return damage;
    }
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code unknown; // a link to nothing is no file either
        if (entry->path().extension() == kEnding && entry->is_regular_file(unknown)) {
            files.push_back(entry->path());
        }
    }
    if (error) {
        throw IoError(folder.string() + ": " + error.message());
    }
    std::sort(files.begin(), files.end());
    ReadLine read;
    for (const fs::path& file : files) {
        for_each_line(file, [&](std::string_view line, std::int64_t number) {
            if (!read.read(line)) {
                damage.add(fmt::format("{}:{}: got {}, expected a point: an object with 'key', "
                                       "'status' and, where it is ok, 'result'; it is left out",
                                       file.string(), number, in_quotes(line)));
                return;
            }
            point(read);
        });
    }
    return damage;
}

KnownPoints::KnownPoints(const fs::path& folder) {
    damage_ = for_each_point(folder, [this](const PointLine& point) { add(point); });
}

const KnownPoints::Known* KnownPoints::find(const PointKey& key) const {
    const auto found = points_.find(key);
    return found == points_.end() ? nullptr : &found->second;
}

const std::string* KnownPoints::status(const PointKey& key) const {
    const Known* const known = find(key);
    return known == nullptr ? nullptr : &statuses_[known->status];
}

std::uint8_t KnownPoints::number_of(const std::string& status) {
    const auto found = std::find(statuses_.begin(), statuses_.end(), status);
    const auto number = static_cast<std::size_t>(found - statuses_.begin());
    if (found == statuses_.end()) {
        constexpr std::size_t kMost = 255;
        if (statuses_.size() == kMost) {
            throw IoError("a store has more than 255 kinds of status");
        }
        statuses_.push_back(status);
    }
    return static_cast<std::uint8_t>(number);
}

bool KnownPoints::add(const PointLine& point) {
    add_to_point(point);
    const Line now{point.is_ok(), point.has("lists"), point.has("contents")};
    const auto [known, is_new] = lines_.try_emplace(point.id(), now);
    Line& before = known->second;
    const bool says_more = is_new || !before.is_ok ||
                           (now.is_ok && ((now.has_lists && !before.has_lists) ||
                                          (now.has_contents && !before.has_contents)));
    if (says_more) {
        before = now;
    }
    return says_more;
}

const KnownPoints::Line* KnownPoints::find(const LineId& id) const {
    const auto found = lines_.find(id);
    return found == lines_.end() ? nullptr : &found->second;
}

void KnownPoints::add_to_point(const PointLine& point) {
    Known now{0, number_of(point.status()), point.has("lists")};
    if (const Value model = point.at({"model"}); model && std::holds_alternative<double>(*model)) {
        models_.insert(static_cast<std::int64_t>(std::get<double>(*model)));
    }
    if (point.is_ok()) {
        now.result = std::hash<std::string>{}(point.raw("result"));
        const Value seconds = point.at({"host", "wall_s"});
        const Value workload = point.at({"workload"});
        if (seconds && workload && std::holds_alternative<double>(*seconds) &&
            std::holds_alternative<std::string>(*workload)) {
            Times& times = times_[std::get<std::string>(*workload)];
            times.seconds += std::get<double>(*seconds);
            ++times.points;
        }
    }
    const auto [known, is_new] = points_.try_emplace(point.key(), now);
    Known& before = known->second;
    const bool was_ok = statuses_[before.status] == kOkStatus;
    if (was_ok && point.is_ok() && before.result != now.result) {
        throw IoError("two different results of one point, which is a bug: key " +
                      point.key().text());
    }
    if (!was_ok || (point.is_ok() && now.has_lists)) {
        before = now;
    }
}

void refuse_other_models(const KnownPoints& known, const fs::path& folder, int model) {
    for (const std::int64_t other : known.models()) {
        if (other != model) {
            throw IoError(
                fmt::format("{}: its points are of model version {}, this program is of {}; "
                            "give another --store, and compare by `tessera sweep diff`",
                            folder.string(), other, model));
        }
    }
}

} // namespace tessera::sweep

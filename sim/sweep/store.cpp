// SPDX-License-Identifier: MIT
#include "sim/sweep/store.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
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

std::string text_at(const Json& point, const char* key) {
    const auto found = point.find(key);
    return found != point.end() && found->is_string() ? found->get<std::string>() : std::string();
}

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
    if (!is_whole_) {
        throw IoError(file_.string() + ": its last line was not finished, nothing can follow it");
    }
    const std::string line = point.dump() + "\n";
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
    if (fdatasync(descriptor_) != 0 && errno != EINVAL) { // no disk, nothing to wait for
        throw IoError(file_.string() + ": " + error_text());
    }
}

void for_each_point(const fs::path& folder, const std::function<void(const Json&)>& point) {
    std::vector<fs::path> files;
    std::error_code error;
    if (!fs::exists(folder, error)) {
        return;
    }
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() == kEnding) {
            files.push_back(entry->path());
        }
    }
    if (error) {
        throw IoError(folder.string() + ": " + error.message());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
        for_each_line(file, [&](std::string_view line, std::int64_t number) {
            const Json read = Json::parse(line, nullptr, false);
            if (!read.is_object() || text_at(read, "key").empty() ||
                text_at(read, "status").empty()) {
                throw IoError(fmt::format("{}:{}: got {}, expected a point: an object with 'key' "
                                          "and 'status'",
                                          file.string(), number, in_quotes(line)));
            }
            point(read);
        });
    }
}

KnownPoints::KnownPoints(const fs::path& folder) {
    for_each_point(folder, [this](const Json& point) { add(point); });
}

const std::string* KnownPoints::status(const std::string& key) const {
    const auto found = points_.find(key);
    return found == points_.end() ? nullptr : &found->second.status;
}

void KnownPoints::add(const Json& point) {
    const std::string key = text_at(point, "key");
    Known now{text_at(point, "status"), 0};
    const bool is_ok = now.status == kOkStatus;
    if (is_ok) {
        const auto result = point.find("result");
        now.result = std::hash<std::string>{}(result == point.end() ? "" : result->dump());
    }
    const auto [known, is_new] = points_.try_emplace(key, now);
    if (is_new) {
        return;
    }
    const bool was_ok = known->second.status == kOkStatus;
    if (was_ok && is_ok && known->second.result != now.result) {
        throw IoError("two different results of one point, which is a bug: key " + key);
    }
    if (!was_ok) {
        known->second = std::move(now);
    }
}

} // namespace tessera::sweep

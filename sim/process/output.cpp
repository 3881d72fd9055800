// SPDX-License-Identifier: MIT
#include "sim/process/output.h"

#include "base/config/shape.h"
#include "base/error.h"
#include "sim/cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <regex>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace tessera::process {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_folder(const std::string& path, const std::string& why) {
    throw IoError(fmt::format("{}: {}", path, why));
}

struct PlacedOutput {
    const NamedOutput* named;
    OutputPlace place;
};

std::string text_of(const NamedOutput& output) {
    return output.option == output.path ? output.option
                                        : fmt::format("{} '{}'", output.option, output.path);
}

} // namespace

OutFolder::OutFolder(const std::string& path) : path_(path) {
    std::error_code failed;
    fs::create_directories(path_, failed);
    if (failed) {
        refuse_folder(path, "the folder cannot be made: " + failed.message());
    }
    descriptor_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0) {
        refuse_folder(path,
                      "the folder cannot be opened: " + std::generic_category().message(errno));
    }
    // Other failures are of file systems without locks.
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(descriptor_);
        refuse_folder(path, "another run writes into this folder; wait for its end, or give "
                            "another --out");
    }
}

OutFolder::~OutFolder() {
    close(descriptor_);
}

void OutFolder::remove_results() const {
    std::vector<std::string> old;
    for (const auto& entry : fs::directory_iterator(path_)) {
        if (const auto name = entry.path().filename().string(); is_result_file(name)) {
            old.push_back(name);
        }
    }
    std::for_each(old.begin(), old.end(), [this](const std::string& name) { remove(name); });
}

void OutFolder::remove(const std::string& name) const {
    std::error_code failed;
    fs::remove(path_ / name, failed);
    if (failed) {
        refuse_folder(file(name), "of an older run cannot be removed: " + failed.message());
    }
}

NewFolder::NewFolder(const std::string& path) {
    std::error_code failed;
    path_ = fs::absolute(path).lexically_normal();
    if (!path_.has_filename()) { // "folder/"
        path_ = path_.parent_path();
    }
    const auto status = fs::status(path_, failed);
    if (fs::exists(status) && !(fs::is_directory(status) && fs::is_empty(path_, failed))) {
        refuse_folder(path, "is there already, expected a new folder or an empty one");
    }
    part_ = path_.string() + ".part";
    fs::create_directories(path_.parent_path(), failed);
    const bool is_made = !failed && fs::create_directory(part_, failed);
    if (!is_made) {
        refuse_folder(part_.string(),
                      failed ? "the folder cannot be made: " + failed.message()
                             : "is there already: another run writes into it, or one was killed; "
                               "wait for its end, or remove it");
    }
}

NewFolder::~NewFolder() {
    std::error_code failed;
    if (!is_in_place_) {
        fs::remove_all(part_, failed);
    }
}

fs::path NewFolder::add(const std::string& name) const {
    std::error_code failed;
    if (!fs::create_directory(part_ / name, failed)) {
        refuse_folder((part_ / name).string(),
                      failed ? "the folder cannot be made: " + failed.message()
                             : "is there already");
    }
    return part_ / name;
}

void NewFolder::put_in_place() {
    std::error_code failed;
    fs::rename(part_, path_, failed);
    if (failed) {
        refuse_folder(path_.string(), "the folder cannot be made: " + failed.message());
    }
    is_in_place_ = true;
}

std::string result_file(const std::string& tensor) {
    return fmt::format("output.{}.npy", tensor);
}

bool is_result_file(const std::string& name) {
    // A name with dots may be a user's own file.
    static const std::regex file("output\\.[A-Za-z0-9_-]{1," +
                                 std::to_string(config::kLongestPart) + "}\\.npy");
    return std::regex_match(name, file);
}

bool check_outputs(const std::string& command, const std::vector<NamedOutput>& outputs) {
    static const NamedOutput standard{"standard output", "standard output"};
    const OutputPlace stdout_place = output_place("-");
    std::vector<PlacedOutput> placed;
    bool to_stdout = false;
    for (const NamedOutput& output : outputs) {
        if (!output.path.empty()) {
            placed.push_back({&output, output_place(output.path)});
            to_stdout = to_stdout || (placed.back().place.kind == OutputPlace::Kind::Descriptor &&
                                      is_same_output(placed.back().place, stdout_place));
        }
    }
    if (!to_stdout) {
        placed.push_back({&standard, stdout_place});
    }
    for (std::size_t i = 0; i < placed.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (is_same_output(placed[j].place, placed[i].place)) {
                throw cli::UsageError(
                    fmt::format("{}: {} and {} are one file, expected different ones", command,
                                text_of(*placed[j].named), text_of(*placed[i].named)));
            }
        }
    }
    return to_stdout;
}

} // namespace tessera::process

// SPDX-License-Identifier: MIT
// What the configuration tests share: files in a folder that goes away, and errors as text.
#pragma once

#include "base/config/paths.h"
#include "base/error.h"
#include "tests/support/source_path.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::test {

/// A new folder under the system's temporary one, removed at the end of the test.
class ScratchFolder {
public:
    ScratchFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "tessera-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("no temporary folder");
        }
        folder_ = name;
    }
    ~ScratchFolder() { std::filesystem::remove_all(folder_); }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] std::string path(const std::string& name = {}) const {
        return (folder_ / name).string();
    }
    /// Writes a file, with the folders on the way to it; returns its path.
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        const std::filesystem::path file = folder_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
        return file.string();
    }

private:
    std::filesystem::path folder_;
};

/// The configs/ of the source tree.
inline config::ConfigPaths source_paths() {
    return {{tessera::test::source_path("configs")}};
}

inline std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The lines of the ConfigError that `action` throws, without `folder` in front; empty if it throws
/// none.
template <class Action>
std::vector<std::string> mistakes_of(const Action& action, const std::string& folder = {}) {
    std::vector<std::string> out;
    try {
        action();
    } catch (const ConfigError& error) {
        for (const auto& diagnostic : error.diagnostics()) {
            std::string text = diagnostic.text();
            for (auto at = text.find(folder); !folder.empty() && at != std::string::npos;
                 at = text.find(folder)) {
                text.erase(at, folder.size());
            }
            out.push_back(text);
        }
    }
    return out;
}

using Lines = std::vector<std::string>;

} // namespace tessera::test

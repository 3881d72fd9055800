// SPDX-License-Identifier: MIT
// What commands write: files that are opened before the run, so that what cannot be written is
// found first, and folders that no other run writes into.
#pragma once

#include "traces/output_file.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tessera::process {

class Output {
public:
    /// "-" is standard output. @throws IoError
    explicit Output(const std::string& path) : file_(path) {}
    void write(const std::string& text) {
        file_.write(text);
        file_.commit();
    }

private:
    traces::OutputFile file_;
};

/// The file of an option; nothing where it was not given.
[[nodiscard]] inline std::unique_ptr<Output> open_output(const std::string& path) {
    return path.empty() ? nullptr : std::make_unique<Output>(path);
}

/// The file of `--out` that has a run's answer, and where a run has several results that of each, the
/// answer again among them. Names of tensors are file names, so that no two of these are alike.
inline constexpr const char* kAnswerFile = "output.npy";
[[nodiscard]] std::string result_file(const std::string& tensor);
/// Whether a file is called as if it were such a result's.
[[nodiscard]] bool is_result_file(const std::string& name);

/// A folder of `--out`, made where it is absent, and this process's alone until the object goes.
class OutFolder {
public:
    /// @throws IoError if it cannot be made, or another process writes into it
    explicit OutFolder(const std::string& path);
    ~OutFolder();
    OutFolder(const OutFolder&) = delete;
    OutFolder& operator=(const OutFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::string file(const std::string& name) const {
        return (path_ / name).string();
    }
    /// Removes a file of an older run; nothing where there is none.
    void remove(const std::string& name) const;
    /// The same of all files that is_result_file() knows.
    void remove_results() const;

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

/// A folder that appears only when all its files are there. Until then it is FOLDER.part.
class NewFolder {
public:
    /// @throws IoError if the folder is there and not empty, or its .part is there, or it cannot be made
    explicit NewFolder(const std::string& path);
    /// Removes the .part, unless it was put in place.
    ~NewFolder();
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;

    /// Makes a folder in it, and returns where it is until then. @throws IoError; so does the other
    [[nodiscard]] std::filesystem::path add(const std::string& name) const;
    void put_in_place();

private:
    std::filesystem::path path_;
    std::filesystem::path part_;
    bool is_in_place_ = false;
};

/// A file that a command is to write, and what asked for it: "--json", or "--out" for one in its
/// folder.
struct NamedOutput {
    std::string option;
    std::string path; ///< empty: not asked for
};

/// Refuses two outputs that are one file, however it is spelt or linked; what people read goes to
/// standard output unless one of them is that. True where one is. @throws UsageError
bool check_outputs(const std::string& command, const std::vector<NamedOutput>& outputs);

} // namespace tessera::process

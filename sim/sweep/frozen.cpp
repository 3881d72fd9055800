// SPDX-License-Identifier: MIT
#include "sim/sweep/frozen.h"

#include "base/error.h"
#include "sim/sweep/point_key.h"
#include "sim/sweep/point_table.h"
#include "traces/output_file.h"

#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Files by where they are to stand below the frozen sweep's folder.
struct Contents {
    std::map<std::string, std::string> texts;
    std::map<std::string, fs::path> copies;

    /// A name that no other has: "bow.json", "bow-2.json".
    [[nodiscard]] std::string free_name(const std::string& kind, const std::string& name) const {
        std::string file = kind + "/" + short_name(name) + ".json";
        for (int number = 2; texts.contains(file); ++number) {
            file = kind + "/" + short_name(name) + "-" + std::to_string(number) + ".json";
        }
        return file;
    }
};

/// Whether `file` is what somebody called `written`.
bool is_called(const fs::path& file, const std::string& written) {
    const std::string normal = fs::path(written).lexically_normal().string();
    const std::string whole = file.lexically_normal().string();
    return fs::path(written).is_relative() && normal.rfind("..", 0) != 0 &&
           (whole == normal || whole.ends_with("/" + normal));
}

/// The texts in a workload that name one of its files.
void find_names(const Json& value, const std::vector<fs::path>& files, Contents& contents) {
    if (value.is_structured()) {
        for (const Json& inner : value) {
            find_names(inner, files, contents);
        }
    } else if (value.is_string()) {
        const auto written = value.get<std::string>();
        for (const fs::path& file : files) {
            if (is_called(file, written)) {
                contents.copies["workloads/" + fs::path(written).lexically_normal().string()] =
                    file;
            }
        }
    }
}

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    traces::OutputFile output(file.string());
    output.write(text);
    output.commit();
}

} // namespace

fs::path freeze(const Source& source, const config::ConfigPaths& paths, const fs::path& store) {
    if (source.file && fs::path(*source.file).parent_path().lexically_normal() ==
                           (store / "sweeps").lexically_normal()) {
        return *source.file;
    }
    Contents contents;
    Json root = source.document.root;
    for (const char* kind : {"machine", "workload"}) {
        const bool is_machine = kind == std::string("machine");
        Json names = Json::array();
        for (const std::string& name :
             is_machine ? source.sweep.machines : source.sweep.workloads) {
            const std::string file = contents.free_name(std::string(kind) + "s", name);
            if (is_machine) {
                contents.texts[file] = spec::load_machine(name, paths).resolved.dump(2) + "\n";
            } else {
                const auto loaded = catalog::load_workload(name, paths);
                contents.texts[file] = loaded.resolved.dump(2) + "\n";
                find_names(loaded.resolved, loaded.inputs, contents);
            }
            names.push_back(file);
        }
        root[kind] = std::move(names);
    }
    std::string all = root.dump();
    for (const auto& [file, text] : contents.texts) {
        all += file + text;
    }
    for (const auto& [file, from] : contents.copies) {
        all += file + from.string();
    }
    constexpr std::size_t kDigits = 8;
    const std::string name = source.name + "-" + sha256(all).text().substr(0, kDigits);
    const fs::path folder = store / "sweeps";
    fs::path file = folder / (name + ".json");
    for (const char* kind : {"machine", "workload"}) {
        for (Json& one : root[kind]) {
            one = name + "/" + one.get<std::string>();
        }
    }
    try {
        for (const auto& [inner, text] : contents.texts) {
            write(folder / name / inner, text);
        }
        for (const auto& [inner, from] : contents.copies) {
            fs::create_directories((folder / name / inner).parent_path());
            fs::copy_file(from, folder / name / inner, fs::copy_options::overwrite_existing);
        }
        write(file, root.dump(2) + "\n");
    } catch (const fs::filesystem_error& error) {
        throw IoError(error.path1().string() + ": " + error.code().message());
    }
    return file;
}

std::optional<fs::path> last_frozen(const fs::path& store) {
    std::optional<fs::path> last;
    fs::file_time_type newest;
    std::error_code error;
    for (fs::directory_iterator entry(store / "sweeps", error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() == ".json") {
            const auto time = entry->last_write_time(error);
            if (!last || time > newest || (time == newest && entry->path() > *last)) {
                last = entry->path();
                newest = time;
            }
        }
    }
    return last;
}

} // namespace tessera::sweep

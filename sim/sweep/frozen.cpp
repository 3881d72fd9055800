// SPDX-License-Identifier: MIT
#include "sim/sweep/frozen.h"

#include "base/config/json_text.h"
#include "base/error.h"
#include "base/utf8.h"
#include "kernels/catalog/load.h"
#include "kernels/modules/expand.h"
#include "models/machine_file/load.h"
#include "sim/sweep/labels.h"
#include "sim/sweep/point_key.h"
#include "sim/sweep/store.h"
#include "traces/output_file.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kPlacesFile = "places.json";
constexpr const char* kIsAsked = "is_asked";

/// What is to stand in a frozen sweep's folder.
class FrozenFiles {
public:
    explicit FrozenFiles(const config::ConfigPaths& paths) : paths_(paths) {}

    std::string add_machine(const std::string& name, const std::string& file) {
        return add_text("machines", name, machine_file::load(file, paths_).resolved);
    }

    std::string add_workload(const std::string& name, const std::string& named) {
        const fs::path file = config::find_config(paths_, "workloads", "workload", named);
        config::Document document = catalog::read_workload(file);
        Json whole;
        try {
            whole = catalog::load_workload(document, file, paths_).resolved;
        } catch (const std::runtime_error&) { // only settings make it right
            whole = document.root;
        }
        if (modules::is_model(document.root)) { // its sizes stay
            whole = modules::with_included(document, file, paths_);
        }
        take_files(whole, "workload", file.parent_path());
        return add_text("workloads", name, whole);
    }

    /// A copy of a file, by its place below the folder.
    std::string add_file(const fs::path& file) {
        const auto [known, is_new] = copies_.try_emplace(fs::absolute(file).lexically_normal());
        if (is_new) {
            // the number stands before the whole ending: readers go by ".mtx" of "a.mtx.gz"
            const std::string whole = file.filename().string();
            const std::size_t dot = std::min(whole.find('.', 1), whole.size());
            known->second =
                free_name("files/" + utf8_of(whole.substr(0, dot)), utf8_of(whole.substr(dot)));
        }
        return known->second;
    }

    void write_to(const fs::path& folder) const {
        for (const auto& [name, text] : texts_) {
            write(folder / name, text);
        }
        for (const auto& [from, name] : copies_) {
            const fs::path to = folder / name;
            const fs::path part = to.string() + "." + std::to_string(getpid());
            fs::create_directories(to.parent_path());
            fs::copy_file(from, part, fs::copy_options::overwrite_existing);
            fs::rename(part, to);
        }
    }

    static void write(const fs::path& file, const std::string& text) {
        fs::create_directories(file.parent_path());
        traces::OutputFile output(file.string());
        output.write(text);
        output.commit();
    }

private:
    std::string add_text(const std::string& kind, const std::string& name, const Json& config) {
        std::string file = free_name(kind + "/" + utf8_of(short_name(name)), ".json");
        texts_[file] = config::text_of_json(config, 2) + "\n";
        return file;
    }

    /// "machines/bow.json", "machines/bow-2.json": a name that no other has.
    std::string free_name(const std::string& start, const std::string& ending) {
        std::string name = start + ending;
        for (int number = 2; !names_.insert(name).second; ++number) {
            name = start + "-" + std::to_string(number) + ending;
        }
        return name;
    }

    /// Takes the files that a workload names, and lets it name the copies.
    void take_files(Json& value, const std::string& path, const fs::path& beside) {
        if (value.is_structured()) {
            for (auto& [key, inner] : value.items()) {
                take_files(inner, path + "." + key, beside);
            }
            return;
        }
        if (!names_file(path, value)) {
            return;
        }
        std::vector<fs::path> places{beside};
        for (const fs::path& root : paths_.roots) {
            places.push_back(root / "data");
        }
        for (const fs::path& place : places) {
            const fs::path file = place / value.get<std::string>();
            std::error_code ignored;
            if (fs::is_regular_file(file, ignored)) {
                value = "../" + add_file(file);
                return;
            }
        }
    }

    const config::ConfigPaths& paths_;
    std::map<std::string, std::string> texts_;
    std::map<fs::path, std::string> copies_;
    std::set<std::string> names_;
};

/// Every name of a sweep, with the path that names it.
std::set<std::pair<std::string, std::string>> names_of(const SweepSpec& sweep) {
    std::set<std::pair<std::string, std::string>> names;
    for (const std::string& machine : sweep.machines) {
        names.emplace(kMachinePath, machine);
    }
    for (const std::string& workload : sweep.workloads) {
        names.emplace(kWorkloadPath, workload);
    }
    for (const Changes& point : sweep.points) {
        for (const Change& change : point) {
            if (change.path == kMachinePath || change.path == kWorkloadPath) {
                names.emplace(change.path, change.value.get<std::string>());
            }
        }
    }
    for (const auto& [name, place] : sweep.places.all()) {
        names.insert(name);
    }
    return names;
}

/// What is said of a frozen sweep in its folder; nothing where the folder is of none.
Json places_of(const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / kPlacesFile, ignored)
               ? config::read_document(folder / kPlacesFile).root
               : Json::object();
}

/// Where the names of a frozen sweep lead.
void for_each_place(const fs::path& folder,
                    const std::function<void(const std::string& path, const std::string& written,
                                             Places::Place place)>& visit) {
    const Json places = places_of(folder).value("places", Json::object());
    for (const auto& [path, names] : places.items()) {
        for (const auto& [written, place] : names.items()) {
            visit(path, written,
                  {(folder / place.value("file", std::string())).string(),
                   place.value("content", std::string()), false, Diagnostic{}});
        }
    }
}

/// Says that this is the one that was run last.
void touch(const fs::path& file) {
    fs::last_write_time(file, fs::file_time_type::clock::now());
}

} // namespace

fs::path freeze(const Source& source, Planner& planner, const config::ConfigPaths& paths,
                const fs::path& store) {
    const fs::path folder = store / kFrozenFolder;
    try {
        if (source.file &&
            fs::path(*source.file).parent_path().lexically_normal() == folder.lexically_normal()) {
            touch(*source.file);
            return *source.file;
        }
        FrozenFiles files(paths);
        Json places = Json::object();
        std::string all = config::text_of_json(source.document.root);
        for (const auto& [path, written] : names_of(source.sweep)) {
            const std::string file = source.sweep.places.file_of(path, written, paths);
            const std::string content = planner.content_of(path, written);
            const std::string copy = path == kMachinePath    ? files.add_machine(written, file)
                                     : path == kWorkloadPath ? files.add_workload(written, file)
                                                             : files.add_file(file);
            places[path][written] = {{"file", copy}, {"content", content}};
        }
        const Json said{{"places", std::move(places)}, {kIsAsked, source.is_asked}};
        all += config::text_of_json(said);
        constexpr std::size_t kDigits = 8;
        const std::string name = utf8_of(source.name) + "-" + sha256(all).text().substr(0, kDigits);
        const fs::path file = folder / (name + ".json");
        if (fs::exists(file) && fs::exists(folder / name / kPlacesFile)) {
            touch(file);
            return file;
        }
        files.write_to(folder / name);
        FrozenFiles::write(folder / name / kPlacesFile, config::text_of_json(said, 2) + "\n");
        FrozenFiles::write(file, config::text_of_json(source.document.root, 2) + "\n");
        return file;
    } catch (const fs::filesystem_error& error) {
        throw IoError(error.path1().string() + ": " + error.code().message());
    }
}

void take_what_was_frozen(Source& source) {
    if (!source.file) {
        return;
    }
    const fs::path folder = source.file->parent_path() / source.file->stem();
    for_each_place(folder,
                   [&](const std::string& path, const std::string& written, Places::Place place) {
                       source.sweep.places.replace(path, written, std::move(place));
                   });
    source.is_asked = places_of(folder).value(kIsAsked, false);
}

void copy_frozen(const fs::path& from, const fs::path& to) {
    try {
        std::error_code ignored;
        if (!fs::exists(from / kFrozenFolder, ignored) || fs::equivalent(from, to, ignored)) {
            return;
        }
        for (const fs::directory_entry& entry :
             fs::recursive_directory_iterator(from / kFrozenFolder)) {
            const fs::path there =
                to / kFrozenFolder / fs::relative(entry.path(), from / kFrozenFolder);
            if (entry.is_regular_file() && !fs::exists(there)) {
                fs::create_directories(there.parent_path());
                fs::copy_file(entry.path(), there);
                fs::last_write_time(there, entry.last_write_time());
            }
        }
    } catch (const fs::filesystem_error& error) {
        throw IoError(error.path1().string() + ": " + error.code().message());
    }
}

FrozenNames::FrozenNames(const fs::path& store) {
    std::error_code error;
    for (fs::directory_iterator entry(store / kFrozenFolder, error), end; !error && entry != end;
         entry.increment(error)) {
        for_each_place(entry->path(), [&](const std::string& path, const std::string& written,
                                          const Places::Place& place) {
            files_[{path, written, place.content}] = place.file;
        });
    }
}

std::optional<std::string> FrozenNames::find(const std::string& path, const std::string& written,
                                             const std::string& content) const {
    const auto found = files_.find({path, written, content});
    return found == files_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<fs::path> last_frozen(const fs::path& store) {
    std::optional<fs::path> last;
    fs::file_time_type newest;
    std::error_code error;
    for (fs::directory_iterator entry(store / kFrozenFolder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code unknown;
        if (entry->path().extension() == ".json" && entry->is_regular_file(unknown)) {
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

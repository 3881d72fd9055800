// SPDX-License-Identifier: MIT
#include "models/spec/load.h"

#include "base/config/describe.h"
#include "base/config/read.h"

#include <algorithm>
#include <system_error>

namespace tessera::spec {
namespace {

namespace fs = std::filesystem;
using config::Document;

/// The file that `extends` of `document` names; ConfigError or IoError, both with the place, if
/// there is none.
fs::path extended_file(const Document& document, const fs::path& file, const std::string& named,
                       const config::ConfigPaths& paths) {
    if (!config::is_path(named)) {
        if (auto found = config::find_name(paths, "machines", named)) {
            return *found;
        }
        throw ConfigError(document.at_value("/extends", "unknown machine '" + named + "'",
                                            config::name_hint(paths, "machines", named)));
    }
    fs::path found = (file.parent_path() / named).lexically_normal();
    std::error_code ignored;
    if (!fs::exists(found, ignored)) {
        throw IoError(
            document.at_value("/extends", "cannot read '" + found.string() + "': no such file")
                .text());
    }
    return found;
}

/// "a.json extends b.json extends a.json".
std::string chain_text(const std::vector<fs::path>& files, const fs::path& again) {
    std::string out;
    for (const auto& file : files) {
        out += file.filename().string() + " extends ";
    }
    return out + again.filename().string();
}

/// Values that an option names and that this machine has no use for.
std::vector<Diagnostic> unused_sets(const Document& whole, const nlohmann::json& resolved) {
    std::vector<Diagnostic> found;
    for (const auto& [pointer, origin] : whole.origins) {
        if (origin.file == "--set") {
            const std::string reason =
                config::unused_reason(machine_shape(), resolved, origin.path);
            if (!reason.empty()) {
                found.push_back(whole.at_value(pointer, "unused on this machine", reason));
            }
        }
    }
    return found;
}

/// The file asked for and those below it, each read and checked by itself.
class Chain {
public:
    explicit Chain(const config::ConfigPaths& paths) : paths_(&paths) {}

    void read(fs::path file) {
        while (!file.empty()) {
            files.push_back(file);
            documents.push_back(config::read_document(file));
            const Document& document = documents.back();
            MachineSpec scratch;
            const auto found = config::read(machine_shape(), document, &scratch);
            mistakes.insert(mistakes.end(), found.begin(), found.end());
            file = next(document, file);
        }
    }

    std::vector<fs::path> files;
    std::vector<Document> documents;
    std::vector<Diagnostic> mistakes;

private:
    fs::path next(const Document& document, const fs::path& file) {
        const auto extends =
            document.root.is_object() ? document.root.find("extends") : document.root.end();
        if (extends == document.root.end() || !extends->is_string()) {
            return {};
        }
        try {
            fs::path below = extended_file(document, file, extends->get<std::string>(), *paths_);
            const bool again = std::any_of(files.begin(), files.end(), [&](const fs::path& seen) {
                std::error_code failed;
                return fs::equivalent(seen, below, failed);
            });
            if (again) {
                throw ConfigError(document.at_value("/extends", "goes round in a circle: " +
                                                                    chain_text(files, below)));
            }
            return below;
        } catch (const ConfigError& error) {
            mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
            return {};
        }
    }

    const config::ConfigPaths* paths_;
};

} // namespace

MachineFiles read_machine(const std::string& name_or_path, const config::ConfigPaths& paths) {
    Chain chain{paths};
    chain.read(config::find_config(paths, "machines", "machine", name_or_path));

    const Document& asked = chain.documents.front();
    const bool named = asked.root.is_object() && asked.root.contains("name");
    Document whole = chain.documents.back();
    for (auto it = chain.documents.rbegin() + 1; it != chain.documents.rend(); ++it) {
        whole.lay_over(*it);
    }
    if (!named && whole.root.is_object()) {
        whole.replace("/name", chain.files.front().stem().string(), asked.origins.at(""));
    }
    return {std::move(whole), std::move(chain.files), std::move(chain.mistakes)};
}

LoadedMachine load_machine(MachineFiles files, const std::vector<std::string>& set_overrides) {
    Document& whole = files.whole;
    auto mistakes = std::move(files.mistakes);
    const auto set_mistakes = config::apply_sets(machine_shape(), whole, set_overrides);
    mistakes.insert(mistakes.end(), set_mistakes.begin(), set_mistakes.end());

    LoadedMachine out;
    out.files = std::move(files.files);
    const auto found = config::read(machine_shape(), whole, &out.spec);
    mistakes.insert(mistakes.end(), found.begin(), found.end());
    if (mistakes.empty()) { // rules between fields say something only where each field is right
        mistakes = check_rules(out.spec, whole);
        out.resolved = config::resolved(machine_shape(), &out.spec);
        const auto unused = unused_sets(whole, out.resolved);
        mistakes.insert(mistakes.end(), unused.begin(), unused.end());
    }
    config::throw_if_any(std::move(mistakes));
    out.origins = std::move(whole.origins);
    return out;
}

LoadedMachine load_machine(const std::string& name_or_path, const config::ConfigPaths& paths,
                           const std::vector<std::string>& set_overrides) {
    return load_machine(read_machine(name_or_path, paths), set_overrides);
}

const config::Shape& machine_shape() {
    return *config::shape_of<MachineSpec>();
}

nlohmann::json machine_schema() {
    return config::json_schema(machine_shape(), "Tessera machine");
}

} // namespace tessera::spec

// SPDX-License-Identifier: MIT
// The modules of a model file: steps with a name, whose inputs, outputs and sizes are told where they are
// used.
#pragma once

#include "base/config/document.h"
#include "base/config/paths.h"
#include "base/config/shape.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::modules {

/// Holds a module as it is written. Its tensors and steps stay in the document too.
struct Module {
    std::string name;
    const config::Document* document = nullptr;
    std::string pointer; ///< in the document
    std::vector<std::string> sizes;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    bool recompute = false; ///< each use runs again in front of its backward steps
    nlohmann::json tensors = nlohmann::json::object();
    nlohmann::json steps;
};

/// Holds a step that uses a module, as it is written.
struct Use {
    enum class Rows : std::uint8_t { Remote, Tiles };

    std::string module;
    std::string name;         ///< empty: as the module
    nlohmann::json times;     ///< "for": a number or an expression; null: once
    bool recompute = false;   ///< as of the module
    bool phased = false;      ///< the uses of "for" are rounds of one repeat
    Rows rows = Rows::Remote; ///< phased: where the rows of the module's tensors stand
    nlohmann::json prefetch;  ///< phased: a number or an expression; null: 0
    nlohmann::json sizes = nlohmann::json::object();
    std::vector<std::string> inputs;
    std::vector<std::string> outputs; ///< an empty name: nobody wants it
};

[[nodiscard]] std::shared_ptr<const config::Shape> module_shape();
[[nodiscard]] std::shared_ptr<const config::Shape> use_shape();

/// Collects the modules of a model file and of those that it includes.
class Modules {
public:
    /// Included files are looked for beside the file that names them, then in the folders models/ of
    /// `paths`. What is wrong goes to `mistakes`.
    Modules(const config::Document& document, const std::filesystem::path& file,
            const config::ConfigPaths& paths, std::vector<Diagnostic>& mistakes);

    /// Gives null where there is none.
    [[nodiscard]] const Module* find(const std::string& name) const;
    [[nodiscard]] std::vector<std::string> names() const;
    /// Included files with the pointer of the entry in the model file that led to them.
    [[nodiscard]] const std::vector<std::pair<std::string, std::filesystem::path>>& files() const {
        return files_;
    }

private:
    void add_modules(const config::Document& document);
    void include_from(const config::Document& document, const std::filesystem::path& file,
                      const std::string& pointer);
    void include(const config::Document& document, const std::string& at,
                 const std::filesystem::path& from, const std::string& pointer);

    const config::ConfigPaths& paths_;
    std::vector<Diagnostic>& mistakes_;
    std::deque<config::Document> included_;
    std::vector<std::pair<std::string, std::filesystem::path>> files_;
    std::map<std::string, Module> modules_;
};

} // namespace tessera::modules

// SPDX-License-Identifier: MIT
#include "kernels/modules/modules.h"

#include "base/config/describe.h"
#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace tessera::modules {
namespace {

namespace fs = std::filesystem;
using config::Describe;
using config::Document;
using config::FieldLine;
using nlohmann::json;

constexpr const char* kSource = "docs/models.md";
constexpr int kMostNames = 1000;
constexpr std::size_t kMostFiles = 100;

/// Holds the keys of a file that is included.
struct Included {
    std::int64_t schema_version = 1;
    std::string description;
    json modules = json::object();
    json include = json::array();
};

void describe_names(Describe<Module>& d, const char* key, std::vector<std::string> Module::*member,
                    const char* says) {
    d.list(key, member, [](FieldLine one) { one.name(); })
        .unit("names")
        .range(0, kMostNames)
        .says(says)
        .from(kSource);
}

std::shared_ptr<const config::Shape> included_shape() {
    Describe<Included> d;
    d.field("schema_version", &Included::schema_version).range(1, 1).from(kSource);
    d.field("description", &Included::description).from(kSource);
    d.field("modules", &Included::modules).json({"object"}).from(kSource);
    d.field("include", &Included::include).json({"array"}).from(kSource);
    return d.shape();
}

} // namespace

std::shared_ptr<const config::Shape> module_shape() {
    Describe<Module> d;
    describe_names(d, "sizes", &Module::sizes, "sizes that each use tells");
    describe_names(d, "inputs", &Module::inputs, "tensors that it reads");
    describe_names(d, "outputs", &Module::outputs,
                   "tensors that it writes, for the steps behind it");
    d.field("recompute", &Module::recompute)
        .says("with train: each use runs again in front of its backward steps, so that what its "
              "steps make for each other does not stand until then")
        .from(kSource);
    d.field("tensors", &Module::tensors)
        .json({"object"})
        .says("tensors that each use has of its own")
        .from(kSource);
    d.field("steps", &Module::steps)
        .json({"array"})
        .required()
        .says("what is done, one after the other")
        .from(kSource);
    return d.shape();
}

std::shared_ptr<const config::Shape> use_shape() {
    Describe<Use> d;
    d.field("module", &Use::module).required().says("name of the module").from(kSource);
    d.field("name", &Use::name)
        .name()
        .empty_if_absent("as the module")
        .says("of this use: what it makes is called name.tensor")
        .from(kSource);
    d.field("for", &Use::times)
        .json({"integer", "string"})
        .says("how many times one behind the other; each reads as its first inputs what the one "
              "before wrote")
        .from(kSource);
    d.field("recompute", &Use::recompute)
        .says("as of the module, for this use alone")
        .from(kSource);
    d.field("phased", &Use::phased)
        .says("with \"for\": the uses are rounds of one repeat, each with its rows of tensors in "
              "streaming memory")
        .from(kSource);
    d.field("rows", &Use::rows, {{"remote", Use::Rows::Remote}, {"tiles", Use::Rows::Tiles}})
        .says("phased: where the rows of the module's tensors stand: in streaming memory, or on "
              "the tiles")
        .from(kSource);
    d.field("prefetch", &Use::prefetch)
        .json({"integer", "string"})
        .says("phased: rows of the module's tensors that IO tiles bring ahead")
        .from(kSource);
    d.field("sizes", &Use::sizes)
        .json({"object"})
        .says("the module's sizes: numbers or expressions")
        .from(kSource);
    d.list("inputs", &Use::inputs, [](FieldLine one) { one.name(); })
        .unit("tensors")
        .range(0, kMostNames)
        .says("what it reads, in the module's order")
        .from(kSource);
    d.text(
         "output", [](Use& use, const std::string& name) { use.outputs = {name}; },
         [](const Use& use) { return use.outputs.empty() ? std::string() : use.outputs.front(); })
        .name()
        .empty_if_absent("see outputs")
        .says("what it writes, of a module with one output")
        .from(kSource);
    d.names_or_null("outputs", &Use::outputs)
        .unit("tensors")
        .range(0, kMostNames)
        .says("what it writes, in the module's order, or null")
        .from(kSource);
    return d.shape();
}

Modules::Modules(const Document& document, const fs::path& file, const config::ConfigPaths& paths,
                 std::vector<Diagnostic>& mistakes)
    : paths_(paths), mistakes_(mistakes) {
    add_modules(document);
    include_from(document, file, {});
}

const Module* Modules::find(const std::string& name) const {
    const auto found = modules_.find(name);
    return found == modules_.end() ? nullptr : &found->second;
}

std::vector<std::string> Modules::names() const {
    std::vector<std::string> names;
    for (const auto& [name, module] : modules_) {
        names.push_back(name);
    }
    return names;
}

void Modules::add_modules(const Document& document) {
    const auto modules = document.root.find("modules");
    if (modules == document.root.end()) {
        return;
    }
    if (!modules->is_object()) {
        mistakes_.push_back(
            document.at_value("/modules", fmt::format("got {}, expected an object of modules",
                                                      config::got_text(*modules))));
        return;
    }
    for (const auto& [name, written] : modules->items()) {
        Module module;
        module.name = name;
        module.document = &document;
        module.pointer = config::child_pointer("/modules", name);
        const auto found = config::read_at(*module_shape(), document, module.pointer, &module);
        mistakes_.insert(mistakes_.end(), found.begin(), found.end());
        const auto [known, is_new] = modules_.try_emplace(name, std::move(module));
        if (!is_new) {
            mistakes_.push_back(document.at_key(
                known->second.pointer,
                fmt::format("got a second module {}, expected one", in_quotes(name)),
                "the other is at " +
                    known->second.document->at_key(known->second.pointer, {}).text()));
        }
    }
}

void Modules::include_from(const Document& document, const fs::path& file,
                           const std::string& pointer) {
    const auto list = document.root.find("include");
    if (list == document.root.end()) {
        return;
    }
    if (!list->is_array()) {
        mistakes_.push_back(document.at_value(
            "/include", fmt::format("got {}, expected a list of files", config::got_text(*list))));
        return;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
        const std::string at = fmt::format("/include/{}", i);
        include(document, at, file, pointer.empty() ? at : pointer);
    }
}

void Modules::include(const Document& document, const std::string& at, const fs::path& from,
                      const std::string& pointer) {
    const json& written = document.root.at(json::json_pointer(at));
    if (!written.is_string()) {
        mistakes_.push_back(document.at_value(
            at, fmt::format("got {}, expected the name of a file", config::got_text(written))));
        return;
    }
    std::vector<fs::path> places{from.parent_path()};
    for (const fs::path& root : paths_.roots) {
        places.push_back(root / "models");
    }
    std::string tried;
    for (const fs::path& place : places) {
        const fs::path path = (place / written.get<std::string>()).lexically_normal();
        std::error_code ignored;
        if (!fs::is_regular_file(path, ignored)) {
            tried += (tried.empty() ? "" : ", ") + path.string();
            continue;
        }
        if (std::ranges::any_of(files_, [&](const auto& known) { return known.second == path; })) {
            return;
        }
        if (files_.size() == kMostFiles) {
            mistakes_.push_back(document.at_value(
                at, fmt::format("got more files, expected at most {}", kMostFiles)));
            return;
        }
        files_.emplace_back(pointer, path);
        try {
            const Document& read = included_.emplace_back(config::read_document(path));
            Included content;
            const auto found = config::read(*included_shape(), read, &content);
            mistakes_.insert(mistakes_.end(), found.begin(), found.end());
            if (read.root.is_object()) {
                add_modules(read);
                include_from(read, path, pointer);
            }
        } catch (const ConfigError& error) {
            mistakes_.insert(mistakes_.end(), error.diagnostics().begin(),
                             error.diagnostics().end());
        }
        return;
    }
    mistakes_.push_back(
        document.at_value(at, fmt::format("cannot find {}", in_quotes(written.get<std::string>())),
                          "looked for " + tried));
}

} // namespace tessera::modules

// SPDX-License-Identifier: MIT
#include "models/isa/assembler/c_preprocessor/include_search.h"

#include "models/isa/assembler.h"
#include "models/isa/assembler/c_preprocessor/standard_headers.h"

#include <fstream>

namespace tessera::isa::assembly::cpp {
namespace {

constexpr std::size_t kLongestName = 1024;
constexpr std::uintmax_t kMostFileBytes = 64ULL << 20U;
constexpr std::size_t kMostCandidates = 2000;

void add_neighbours(const std::filesystem::path& directory, const std::filesystem::path& prefix,
                    std::vector<std::string>& names) {
    std::error_code error;
    std::filesystem::directory_iterator entry(directory / prefix, error);
    while (!error && entry != std::filesystem::directory_iterator{} &&
           names.size() < kMostCandidates) {
        std::error_code unknown;
        if (entry->is_regular_file(unknown)) {
            names.push_back((prefix / entry->path().filename()).string());
        }
        entry.increment(error);
    }
}

} // namespace

IncludeSearch::IncludeSearch(const std::vector<std::filesystem::path>& directories,
                             const std::vector<SourceFile>* embedded)
    : directories_(directories) {
    if (embedded != nullptr) {
        for (const SourceFile& source : *embedded) {
            embedded_.emplace(source.name, IncludedFile{source.name, source.text, {}});
        }
    }
}

const IncludedFile* IncludeSearch::read(const std::filesystem::path& path) {
    const std::string shown = path.lexically_normal().string();
    const auto known = files_.find(shown);
    if (known != files_.end()) {
        return &known->second;
    }
    const auto refuse = [&](const char* reason) {
        refusal_ = refusal_.empty() ? reason : refusal_;
        return nullptr;
    };
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
        return std::filesystem::exists(path, error) ? refuse("it is no file with a text") : nullptr;
    }
    if (std::filesystem::file_size(path, error) > kMostFileBytes) {
        return refuse("it has more than 64 MiB");
    }
    std::ifstream stream(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    if (stream.bad() || !stream.is_open()) {
        return refuse("it cannot be opened");
    }
    const std::string_view kept = texts_.emplace_back(std::move(text));
    return &files_.emplace(shown, IncludedFile{shown, kept, path.parent_path().lexically_normal()})
                .first->second;
}

const IncludedFile* IncludeSearch::find(std::string_view name,
                                        const std::filesystem::path* beside) {
    refusal_.clear();
    if (name.empty() || name.size() > kLongestName || name.find('\0') != std::string_view::npos) {
        return nullptr;
    }
    if (const auto found = embedded_.find(name); found != embedded_.end()) {
        return &found->second;
    }
    if (beside != nullptr) {
        if (const IncludedFile* found = read(*beside / name); found != nullptr) {
            return found;
        }
    }
    for (const std::filesystem::path& directory : directories_) {
        if (const IncludedFile* found = read(directory / name); found != nullptr) {
            return found;
        }
    }
    for (const StandardHeader& header : standard_headers()) {
        if (header.name == name) {
            const std::string shown = "<" + std::string(name) + ">";
            return &files_.try_emplace(shown, IncludedFile{shown, header.text, {}}).first->second;
        }
    }
    return nullptr;
}

std::string IncludeSearch::nearest(std::string_view name, const std::filesystem::path* beside,
                                   Diagnostics& diagnostics) const {
    if (name.size() > kLongestName || name.find('\0') != std::string_view::npos) {
        return {};
    }
    const std::filesystem::path wanted{name};
    std::vector<std::string> names;
    for (const StandardHeader& header : standard_headers()) {
        if (std::filesystem::path(header.name).filename() == wanted.filename()) {
            return "did you mean '" + std::string(header.name) + "'?";
        }
        names.emplace_back(header.name);
    }
    for (const auto& embedded : embedded_) {
        names.push_back(embedded.first);
    }
    if (beside != nullptr) {
        add_neighbours(beside->empty() ? "." : *beside, wanted.parent_path(), names);
    }
    for (const std::filesystem::path& directory : directories_) {
        add_neighbours(directory, wanted.parent_path(), names);
    }
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    return diagnostics.nearest(name, candidates);
}

} // namespace tessera::isa::assembly::cpp

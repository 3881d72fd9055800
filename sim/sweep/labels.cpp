// SPDX-License-Identifier: MIT
#include "sim/sweep/labels.h"

#include <filesystem>
#include <map>
#include <set>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;

/// The short name with the last `folders` folders before it.
std::string with_folders(const std::string& written, std::size_t folders) {
    const fs::path path(written);
    std::vector<std::string> parts(path.begin(), path.end());
    std::string text = short_name(written);
    for (std::size_t i = 1; i <= folders && i < parts.size(); ++i) {
        text.insert(0, parts[parts.size() - 1 - i] + "/");
    }
    return text;
}

/// Each name with as few folders as it needs.
std::map<std::string, std::string> apart(const std::set<std::string>& names) {
    std::map<std::string, std::vector<std::string>> by_short_name;
    for (const std::string& name : names) {
        by_short_name[short_name(name)].push_back(name);
    }
    std::map<std::string, std::string> texts;
    for (const auto& [short_one, alike] : by_short_name) {
        std::size_t most = 0; // folders of any of them
        for (const std::string& name : alike) {
            const fs::path path(name);
            most =
                std::max(most, static_cast<std::size_t>(std::distance(path.begin(), path.end())));
        }
        bool are_apart = false;
        for (std::size_t folders = 0; !are_apart && folders <= most; ++folders) {
            std::set<std::string> different;
            for (const std::string& name : alike) {
                different.insert(texts[name] = with_folders(name, folders));
            }
            are_apart = different.size() == alike.size();
        }
        for (const std::string& name : alike) {
            texts[name] = are_apart ? texts[name] : name; // `a` and `a.json`
        }
    }
    return texts;
}

std::vector<std::string> with_contents(const std::vector<Called>& all,
                                       const std::map<std::string, std::string>& texts) {
    std::map<std::string, std::set<std::string>> contents;
    for (const Called& one : all) {
        contents[one.written].insert(one.content);
    }
    std::vector<std::string> labels;
    for (const Called& one : all) {
        constexpr std::size_t kDigits = 8;
        const bool is_several = contents.at(one.written).size() > 1 && !one.content.empty();
        labels.push_back(texts.at(one.written) +
                         (is_several ? "#" + one.content.substr(0, kDigits) : ""));
    }
    return labels;
}

} // namespace

std::string short_name(const std::string& name_or_path) {
    return fs::path(name_or_path).stem().string();
}

std::vector<std::string> config_labels(const std::vector<Called>& all) {
    std::set<std::string> names;
    for (const Called& one : all) {
        names.insert(one.written);
    }
    return with_contents(all, apart(names));
}

std::vector<std::string> file_labels(const std::vector<Called>& all) {
    std::map<std::string, std::string> texts;
    for (const Called& one : all) {
        texts[one.written] = one.written;
    }
    return with_contents(all, texts);
}

} // namespace tessera::sweep

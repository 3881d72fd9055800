// SPDX-License-Identifier: MIT
#include "sim/calibrate/machine_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

namespace tessera::sim::calibrate {
namespace {

std::string first_word_lower(const std::string& text) {
    std::string word;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
            break;
        }
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return word;
}

/// The first group of `pattern` in `text`, or empty.
std::string found(const std::string& text, const char* pattern) {
    std::smatch match;
    return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : std::string{};
}

bool several_chips(const ReferenceRow& row) {
    const std::string times = found(row.text("machine"), "\\bx([0-9]{1,6})\\b");
    return row.count("ipus").value_or(1) > 1 || (!times.empty() && std::stoi(times) > 1) ||
           row.says("topology", {"IPU"});
}

} // namespace

std::variant<NamedMachine, NotCovered> machine_of(const ReferenceRow& row,
                                                  const std::vector<std::string>& machines) {
    if (several_chips(row)) {
        return NotCovered{"more than one chip"};
    }
    const std::string text = row.text("machine");
    NamedMachine machine{.name = first_word_lower(text), .sets = {}};
    if (std::find(machines.begin(), machines.end(), machine.name) == machines.end()) {
        return NotCovered{fmt::format("machine '{}'", text)};
    }
    if (const std::string tiles = found(text, "([0-9]+) tiles"); !tiles.empty()) {
        machine.sets.push_back("chip.tiles=" + tiles);
    }
    if (const std::string clock = found(text, "([0-9.]+) GHz"); !clock.empty()) {
        machine.sets.push_back("chip.clock_hz=" + clock + "e9");
    }
    return machine;
}

} // namespace tessera::sim::calibrate

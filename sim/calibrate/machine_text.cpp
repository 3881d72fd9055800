// SPDX-License-Identifier: MIT
#include "sim/calibrate/machine_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

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

/// The number, with digits of `digits`, that stands before the first `word` in `text`; empty if none.
std::string number_before(const std::string& text, const char* word, const char* digits) {
    const auto end = text.find(word);
    if (end == std::string::npos) {
        return {};
    }
    const auto before = text.find_last_not_of(digits, end == 0 ? 0 : end - 1);
    const auto begin = before == std::string::npos ? 0 : before + 1;
    return text.substr(begin, end - begin);
}

/// True for "x4" as a word of the text, but not for "x1".
bool says_times(const std::string& text) {
    for (auto at = text.find(" x"); at != std::string::npos; at = text.find(" x", at + 1)) {
        const auto end = text.find_first_not_of("0123456789", at + 2);
        const std::string count =
            text.substr(at + 2, end == std::string::npos ? end : end - at - 2);
        if (!count.empty() && count != "1") {
            return true;
        }
    }
    return false;
}

bool several_chips(const ReferenceRow& row) {
    return row.count("ipus").value_or(1) > 1 || says_times(row.text("machine")) ||
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
    if (const std::string tiles = number_before(text, " tiles", "0123456789"); !tiles.empty()) {
        machine.sets.push_back("chip.tiles=" + tiles);
    }
    if (const std::string clock = number_before(text, " GHz", "0123456789."); !clock.empty()) {
        machine.sets.push_back("chip.clock_hz=" + clock + "e9");
    }
    return machine;
}

} // namespace tessera::sim::calibrate

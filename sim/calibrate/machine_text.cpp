// SPDX-License-Identifier: MIT
#include "sim/calibrate/machine_text.h"

#include "base/config/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

namespace tessera::calibrate {
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

/// What stands before the first `unit` in the row's machine and looks like a number; empty if
/// nothing does. @throws ConfigError if it only looks like one
std::string number_before(const ReferenceRow& row, const char* unit) {
    const std::string text = row.text("machine");
    const auto at = text.find(unit);
    const auto last = at == std::string::npos || at == 0 ? at : text.find_last_not_of(' ', at - 1);
    if (last == std::string::npos) {
        return {};
    }
    const auto before = text.find_last_of(" (", last);
    const auto begin = before == std::string::npos ? 0 : before + 1;
    const std::string number = text.substr(begin, last + 1 - begin);
    if (number.empty() || std::string("0123456789+-.").find(number.front()) == std::string::npos) {
        return {};
    }
    double value = 0;
    const char* end = number.data() + number.size();
    const auto read = std::from_chars(number.data(), end, value, std::chars_format::fixed);
    if (read.ec != std::errc{} || read.ptr != end) {
        throw row.error("machine", fmt::format("got '{}' before '{}', expected a number such as "
                                               "1216 or 1.6",
                                               number, unit));
    }
    return number;
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

} // namespace

bool says_several_chips(const ReferenceRow& row) {
    return row.count("ipus").value_or(1) > 1 || says_times(row.text("machine")) ||
           row.says("topology", {"IPU"});
}

std::variant<NamedMachine, NotCovered> machine_of(const ReferenceRow& row,
                                                  const std::vector<std::string>& machines) {
    const std::string text = row.text("machine");
    NamedMachine machine{.name = first_word_lower(text), .sets = {}};
    if (std::find(machines.begin(), machines.end(), machine.name) == machines.end()) {
        const std::string hint = config::did_you_mean(machine.name, machines);
        return NotCovered{fmt::format("machine '{}'{}", text, hint.empty() ? "" : "; " + hint)};
    }
    if (const std::string tiles = number_before(row, "tile"); !tiles.empty()) {
        machine.sets.push_back("chip.tiles=" + tiles);
    }
    for (const auto& [unit, power] : {std::pair{"GHz", "e9"}, {"MHz", "e6"}}) {
        if (const std::string clock = number_before(row, unit); !clock.empty()) {
            machine.sets.push_back("chip.clock_hz=" + clock + power);
        }
    }
    return machine;
}

} // namespace tessera::calibrate

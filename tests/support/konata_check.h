// SPDX-License-Identifier: MIT
// Reads a Kanata 0004 file line by line and holds it to the rules of the format.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::test {

struct KonataSummary {
    std::string error; ///< empty if every rule holds
    std::int64_t instructions = 0;
    std::int64_t first_cycle = -1;
    std::int64_t last_cycle = -1;
    std::set<std::int64_t> threads;
    std::map<std::string, std::int64_t> stage_cycles; ///< summed over instructions
};

class KonataReader {
public:
    static KonataSummary read(const std::string& text) {
        KonataReader reader;
        std::istringstream lines(text);
        std::string line;
        while (std::getline(lines, line) && reader.summary_.error.empty()) {
            ++reader.line_;
            reader.take(fields_of(line));
        }
        reader.require(reader.open_.empty(), "an instruction is never retired");
        reader.require(reader.cycle_ >= 0, "no clock");
        reader.summary_.last_cycle = reader.cycle_;
        return reader.summary_;
    }

private:
    struct Open {
        std::string stage;
        std::int64_t since = 0;
    };

    static std::vector<std::string> fields_of(const std::string& line) {
        std::vector<std::string> fields;
        std::istringstream in(line);
        std::string field;
        while (std::getline(in, field, '\t')) {
            fields.push_back(field);
        }
        return fields;
    }

    void require(bool holds, const std::string& what) {
        if (!holds && summary_.error.empty()) {
            summary_.error = fmt::format("line {}: {}", line_, what);
        }
    }

    void take(const std::vector<std::string>& fields) {
        if (line_ == 1) {
            require(fields == std::vector<std::string>{"Kanata", "0004"}, "not the header");
            return;
        }
        static const std::map<std::string, std::size_t> kFields = {
            {"C=", 2}, {"C", 2}, {"I", 4}, {"L", 4}, {"S", 4}, {"E", 4}, {"R", 4}};
        const auto found = kFields.find(fields.empty() ? "" : fields[0]);
        require(found != kFields.end() && found->second == fields.size(), "not a line");
        if (!summary_.error.empty()) {
            return;
        }
        const std::int64_t number = std::stoll(fields[1]);
        if (fields[0] == "C=") {
            require(line_ == 2, "the first clock is not on the second line");
            cycle_ = summary_.first_cycle = number;
        } else if (fields[0] == "C") {
            require(number > 0, "time does not advance");
            cycle_ += number;
        } else {
            take_instruction(fields, number);
        }
    }

    void take_instruction(const std::vector<std::string>& fields, std::int64_t id) {
        if (fields[0] == "I") {
            require(id == summary_.instructions, "ids do not count up");
            ++summary_.instructions;
            summary_.threads.insert(std::stoll(fields[3]));
            open_[id] = {};
            return;
        }
        require(open_.contains(id), "an instruction that is not there");
        if (!summary_.error.empty()) {
            return;
        }
        Open& one = open_[id];
        if (fields[0] == "S") {
            require(one.stage.empty(), "a stage begins inside another");
            one = {fields[3], cycle_};
        } else if (fields[0] == "E") {
            require(one.stage == fields[3], "the end of another stage");
            require(cycle_ > one.since, "a stage of no clocks");
            summary_.stage_cycles[one.stage] += cycle_ - one.since;
            one.stage.clear();
        } else if (fields[0] == "R") {
            require(one.stage.empty(), "retired inside a stage");
            require(std::stoll(fields[2]) == retired_++, "retire ids do not count up");
            open_.erase(id);
        }
    }

    KonataSummary summary_;
    std::int64_t line_ = 0;
    std::int64_t cycle_ = -1;
    std::int64_t retired_ = 0;
    std::map<std::int64_t, Open> open_;
};

} // namespace tessera::test

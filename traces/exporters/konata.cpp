// SPDX-License-Identifier: MIT
#include "traces/exporters/konata.h"

#include "base/error.h"
#include "traces/output_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera::traces {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

/// What becomes of an instruction in a clock.
enum class Change : std::uint8_t { Appear, Issue, Execute, Done };

struct Event {
    Cycles cycle = 0;
    std::uint32_t instruction = 0; ///< its index
    Change change = Change::Appear;

    [[nodiscard]] auto key() const { return std::tie(cycle, instruction, change); }
};

std::vector<Event> events_of(std::span<const PipelineInstruction> instructions) {
    std::vector<Event> events;
    events.reserve(instructions.size() * 4);
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        const PipelineInstruction& one = instructions[i];
        TESSERA_ASSERT(one.waits_from >= 0 && one.waits_from <= one.issue && one.issue < one.done);
        const auto index = static_cast<std::uint32_t>(i);
        events.push_back({one.waits_from, index, Change::Appear});
        events.push_back({one.issue, index, Change::Issue});
        if (one.done > one.issue + 1) {
            events.push_back({one.issue + 1, index, Change::Execute});
        }
        events.push_back({one.done, index, Change::Done});
    }
    std::sort(events.begin(), events.end(),
              [](const Event& a, const Event& b) { return a.key() < b.key(); });
    return events;
}

/// A label stands in one field of one line.
std::string in_one_field(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return text;
}

class Writer {
public:
    Writer(OutputFile& output, std::span<const PipelineInstruction> instructions, int workers,
           const DescribeAddress& describe)
        : output_(output), instructions_(instructions), workers_(workers), describe_(describe),
          number_(instructions.size(), 0) {}

    void write() {
        const std::vector<Event> events = events_of(instructions_);
        Cycles cycle = events.empty() ? 0 : events.front().cycle;
        line("Kanata\t0004\nC=\t{}\n", cycle);
        for (const Event& event : events) {
            if (event.cycle != cycle) {
                line("C\t{}\n", event.cycle - cycle);
                cycle = event.cycle;
            }
            write_change(event);
            if (buffer_.size() >= kFlushBytes) {
                flush();
            }
        }
        flush();
        output_.commit();
    }

private:
    template <class... Values> void line(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    }

    void flush() {
        output_.write(buffer_);
        buffer_.clear();
    }

    void write_change(const Event& event) {
        const PipelineInstruction& one = instructions_[event.instruction];
        std::uint32_t& number = number_[event.instruction];
        switch (event.change) {
        case Change::Appear:
            number = appeared_++;
            line("I\t{0}\t{0}\t{1}\n", number, one.context < 0 ? workers_ : one.context);
            write_labels(number, one.address);
            if (one.waits_from < one.issue) {
                line("S\t{}\t0\tWt\n", number);
            }
            break;
        case Change::Issue:
            if (one.waits_from < one.issue) {
                line("E\t{}\t0\tWt\n", number);
            }
            line("S\t{}\t0\tIs\n", number);
            break;
        case Change::Execute:
            line("E\t{0}\t0\tIs\nS\t{0}\t0\tEx\n", number);
            break;
        case Change::Done:
            line("E\t{0}\t0\t{1}\nR\t{0}\t{2}\t0\n", number, one.done > one.issue + 1 ? "Ex" : "Is",
                 retired_++);
            break;
        }
    }

    void write_labels(std::uint32_t number, Address address) {
        const auto [entry, is_new] = texts_.try_emplace(address);
        if (is_new) {
            const InstructionText text = describe_(address);
            entry->second = {in_one_field(text.text), in_one_field(text.source_line)};
        }
        line("L\t{}\t0\t{:x}: {}\n", number, address, entry->second.text);
        if (!entry->second.source_line.empty()) {
            line("L\t{}\t1\t{}\n", number, entry->second.source_line);
        }
    }

    OutputFile& output_;
    std::span<const PipelineInstruction> instructions_;
    int workers_;
    const DescribeAddress& describe_;
    std::vector<std::uint32_t> number_; ///< in the file, by index: in order of appearance
    std::uint32_t appeared_ = 0;
    std::uint32_t retired_ = 0;
    std::unordered_map<Address, InstructionText> texts_;
    std::string buffer_;
};

} // namespace

void write_konata(OutputFile& output, std::span<const PipelineInstruction> instructions,
                  int workers, const DescribeAddress& describe) {
    Writer(output, instructions, workers, describe).write();
}

} // namespace tessera::traces

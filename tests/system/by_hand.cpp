// SPDX-License-Identifier: MIT
#include "tests/system/by_hand.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tessera::by_hand {
namespace {

/// "{ rpt $m6, 1 ; fnop }" -> {"rpt", "$m6", "1"}: the main half, cut into words.
std::vector<std::string> words_of(const std::string& text) {
    const std::size_t begin = text.rfind("{ ", 0) == 0 ? 2 : 0;
    std::vector<std::string> words(1);
    for (const char c : text.substr(begin, text.find(" ;") - begin)) {
        if (c == ' ') {
            words.emplace_back();
        } else if (c != ',') {
            words.back() += c;
        }
    }
    return words;
}

Address constant_of(const std::string& word) {
    return static_cast<Address>(std::stoul(word, nullptr, 0));
}

Address behind(const isa::ListingLine& line) {
    return line.address + static_cast<Address>(4 * line.words.size());
}

/// The supervisor's sheet of paper.
class Sheet {
public:
    Sheet(const spec::TileSpec& tile, const Listing& code, const IssuesOf& issues_of)
        : tile_(tile), code_(code), issues_of_(issues_of),
          slot_free_(static_cast<std::size_t>(tile.workers), 0) {
        values_["$m10"] = 0; // the stub returns to address 0
        values_["$mzero"] = 0;
    }

    SupervisorPath walk(Address at) {
        bool jumped = false;
        while (true) {
            const isa::ListingLine& line = code_.at(at);
            const auto words = words_of(line.text);
            const Cycles cycle = slot_from(std::max(next_, operands_ready(words)));
            next_ = cycle + 1;
            done_.path.push_back({at, cycle, line.text, jumped, 1});
            const std::optional<Address> target = step(words, cycle, at);
            jumped = target.has_value();
            at = target.value_or(behind(line));
            if (jumped) {
                next_ = cycle + tile_.pipeline_cycles;
            }
            if (jumped && at == 0) {
                done_.cycles = next_;
                return std::move(done_);
            }
        }
    }

private:
    /// Registers that the instruction reads: all but the first operand, which most write.
    [[nodiscard]] Cycles operands_ready(const std::vector<std::string>& words) const {
        static const std::vector<std::string> reads_first{"brnzdec", "br", "runall"};
        const bool first_too =
            std::find(reads_first.begin(), reads_first.end(), words[0]) != reads_first.end();
        Cycles cycle = words[0] == "ld128putcs" ? ready_of("$CCCSLOAD") : 0;
        for (std::size_t i = first_too ? 1 : 2; i < words.size(); ++i) {
            cycle = std::max(cycle, ready_of(words[i]));
        }
        return cycle;
    }

    [[nodiscard]] Cycles ready_of(const std::string& name) const {
        const auto found = ready_.find(name);
        return found == ready_.end() ? 0 : found->second;
    }

    /// The first cycle from `cycle` on whose slot no worker holds.
    [[nodiscard]] Cycles slot_from(Cycles cycle) const {
        while (cycle % round_ < tile_.workers &&
               slot_free_[static_cast<std::size_t>(cycle % round_)] > cycle) {
            ++cycle;
        }
        return cycle;
    }

    void write(const std::string& name, std::optional<Address> value, Cycles cycle) {
        values_[name] = value;
        ready_[name] = cycle + tile_.pipeline_cycles;
    }

    Address known(const std::string& name) const {
        const auto found = values_.find(name);
        if (found == values_.end() || !found->second) {
            throw std::runtime_error("nobody wrote down the value of " + name);
        }
        return *found->second;
    }

    /// Writes down what the instruction does; where it jumps to, if it does.
    std::optional<Address> step(const std::vector<std::string>& words, Cycles cycle, Address at) {
        const std::string& name = words[0];
        if (name == "setzi") {
            write(words[1], constant_of(words[2]), cycle);
        } else if (name == "or" && words[3] == "0") {
            write(words[1], known(words[2]), cycle);
        } else if (name == "ld32") {
            write(words[1], code_.state(known(words[2]) + 4 * constant_of(words[4])), cycle);
        } else if (name == "put") {
            write(words[1], known(words[2]), cycle);
        } else if (name == "brnzdec") {
            const Address value = known(words[1]);
            write(words[1], value - 1, cycle);
            return value != 0 ? std::optional(constant_of(words[2])) : std::nullopt;
        } else if (name == "call") {
            write(words[1], at + 4, cycle);
            return constant_of(words[2]);
        } else if (name == "bri") {
            return constant_of(words[1]);
        } else if (name == "br") {
            return known(words[1]);
        } else if (name == "sync") {
            next_ = std::max(next_, *std::max_element(slot_free_.begin(), slot_free_.end()));
        } else if (name == "runall") {
            launch(known(words[1]), cycle);
        } else if (name != "ld128putcs") {
            throw std::runtime_error("no rule for " + name);
        }
        return std::nullopt;
    }

    void launch(Address entry, Cycles cycle) {
        Launch launch{entry, {}};
        for (std::int64_t worker = 0; worker < tile_.workers; ++worker) {
            WorkerRun run;
            run.first = cycle + tile_.pipeline_cycles;
            while (run.first % round_ != worker) {
                ++run.first;
            }
            run.issues = issues_of_(entry, worker);
            run.last = run.first + round_ * (run.issues - 1);
            run.slot_free = run.last + tile_.pipeline_cycles;
            slot_free_[static_cast<std::size_t>(worker)] = run.slot_free;
            launch.workers.push_back(run);
        }
        done_.launches.push_back(std::move(launch));
    }

    const spec::TileSpec& tile_;
    Cycles round_ = std::max<Cycles>(tile_.workers, tile_.pipeline_cycles); ///< slots of a round
    const Listing& code_;
    const IssuesOf& issues_of_;
    std::map<std::string, Cycles> ready_;
    std::map<std::string, std::optional<Address>> values_;
    std::vector<Cycles> slot_free_;
    Cycles next_ = 0;
    SupervisorPath done_;
};

} // namespace

Listing::Listing(const program::Program& program, TileId tile) {
    for (const program::Segment& segment :
         program.images.at(program.image_of_tile.at(tile)).segments) {
        const bool code = segment.kind == program::SegmentKind::Code;
        if (segment.data == nullptr || // the control program's, which is not executed
            (!code && segment.kind != program::SegmentKind::VertexState)) {
            continue;
        }
        std::vector<std::uint32_t> words(static_cast<std::size_t>(segment.bytes) / 4);
        std::memcpy(words.data(), segment.data->data(), words.size() * 4);
        if (code) {
            for (isa::ListingLine& line : isa::disassemble(words, segment.address)) {
                lines_.emplace(line.address, std::move(line));
            }
            continue;
        }
        for (std::size_t i = 0; i < words.size(); ++i) {
            state_.emplace(segment.address + static_cast<Address>(4 * i), words[i]);
        }
    }
}

std::optional<std::uint32_t> Listing::state(Address address) const {
    const auto found = state_.find(address);
    return found == state_.end() ? std::nullopt : std::optional(found->second);
}

WorkerPath walk_worker(const spec::TileSpec& tile, const Listing& code, Address entry,
                       const WorkerChoices& choices) {
    WorkerPath done;
    std::size_t branches = 0;
    bool jumped = false;
    for (Address at = entry;;) {
        const isa::ListingLine& line = code.at(at);
        if (jumped && line.words.size() == 2 && at % 8 == 4) {
            done.issues += tile.unaligned_bundle_issues;
        }
        done.path.push_back({at, done.issues, line.text, jumped, 1});
        ++done.issues;
        const auto words = words_of(line.text);
        at = behind(line);
        jumped =
            words[0] == "bri" || (words[0] == "brneg" && choices.branches_taken.at(branches++));
        if (jumped) {
            at = constant_of(words.back());
        } else if (words[0] == "exitz") {
            return done;
        } else if (words[0] == "rpt") {
            const auto body = static_cast<std::int64_t>(constant_of(words[2])) + 1;
            for (std::int64_t i = 0; i < body; ++i) {
                const isa::ListingLine& repeated = code.at(at);
                done.path.push_back({at, done.issues + i, repeated.text, false, choices.repeats});
                at = behind(repeated);
            }
            done.issues += body * choices.repeats;
        }
    }
}

SupervisorPath walk_supervisor(const spec::TileSpec& tile, const Listing& code, Address stub,
                               const IssuesOf& issues_of) {
    return Sheet(tile, code, issues_of).walk(stub);
}

} // namespace tessera::by_hand

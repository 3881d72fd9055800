// SPDX-License-Identifier: MIT
#include "sim/vertex/counter.h"

#include "models/isa/assembler.h"
#include "models/isa/instruction.h"
#include "sim/vertex/code_text.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

namespace tessera::vertex {
namespace {

std::string class_of(const isa::Operation& operation) {
    const auto& spec = isa::spec_of(operation.opcode);
    const bool loads = (spec.flags & isa::kLoad) != 0;
    const bool stores = (spec.flags & isa::kStore) != 0;
    const auto holds = [&](std::string_view part) {
        return spec.mnemonic.find(part) != std::string_view::npos;
    };
    if (isa::is_nop(operation)) {
        return "nop";
    }
    if (loads || stores) {
        return loads && stores ? "load_store" : loads ? "load" : "store";
    }
    if ((spec.flags & isa::kControl) != 0) {
        return "control";
    }
    if ((spec.flags & (isa::kSystem | isa::kSupervisor)) != 0) {
        return "system";
    }
    if (spec.lane == isa::Lane::Main) {
        return "main_arithmetic";
    }
    return holds("amp") || holds("slic") ? "matrix"
           : holds("acc")                ? "accumulate"
                                         : "aux_arithmetic";
}

void sort(std::vector<CodeLine>& lines) {
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
}

} // namespace

void check_defined(const Bench& bench, Address address) {
    if (std::binary_search(bench.undefined_uses.begin(), bench.undefined_uses.end(), address)) {
        throw ConfigError(*bench.undefined_error);
    }
}

void Counter::issue(const tile::IssueRecord& record) {
    check_defined(bench_, record.address);
    tell_progress(phase_begin_ + record.cycle);
    Issues& issues = issues_[{record.context >= 0, record.address}];
    ++issues.instructions;
    issues.workers |= record.context < 0 ? 0U : 1U << static_cast<unsigned>(record.context);
    issues.turns += record.issues > 0 ? 1 : 0;
    if (keep_log_) {
        auto shifted = record;
        shifted.cycle += phase_begin_;
        log_->issue(shifted);
    }
    if (record.context < 0) {
        watch_.issued(record.address, registers_);
        is_open_ = is_open_ && !is_sync(record.address);
    }
}

void Counter::stall(const tile::StallRecord& record) {
    const bool of_worker = record.context >= 0;
    stalls_[of_worker][static_cast<std::size_t>(record.reason)] += record.cycles;
    if (record.reason == tile::StallReason::Launch) {
        watch_.launched(record.context);
        launches_ += is_open_ ? 0 : 1;
        is_open_ = true;
        launch_of_run_.push_back(launches_ - 1);
    } else {
        line_stalls_[record.address] += record.cycles;
    }
    if (record.reason == tile::StallReason::UnalignedBundle) {
        unaligned_[record.address] += record.cycles;
    }
    if (keep_log_) {
        auto shifted = record;
        shifted.begin += phase_begin_;
        log_->stall(shifted);
    }
}

void Counter::begin_phase(const BenchPhase& phase, Cycles begin) {
    phase_begin_ = begin;
    watch_.begin_phase(phase);
    launches_ = 0;
    is_open_ = false;
    launch_of_run_.clear();
}

void Counter::finish(PointResult& result) const {
    result.log = log_;
    result.warnings = watch_.warnings();
    std::map<std::string, CodeLine> lines;
    std::map<std::string, std::uint32_t> workers;
    for (const auto& [key, issues] : issues_) {
        const auto& [of_worker, address] = key;
        Activity& activity = of_worker ? result.workers : result.supervisor;
        const Cycles cycles = issues.turns * (of_worker ? round_ : 1);
        activity.issues += issues.instructions;
        activity.issue_cycles += cycles;
        CodeLine& line = lines[source_line(bench_, address)];
        line.issues += issues.instructions;
        line.cycles += cycles;
        workers[source_line(bench_, address)] |= issues.workers;
        count_instruction(result, address, issues.instructions, of_worker);
    }
    for (const auto& [address, cycles] : line_stalls_) {
        lines[source_line(bench_, address)].cycles += cycles;
    }
    for (std::size_t reason = 0; reason < tile::kStallReasonWords.size(); ++reason) {
        const std::string name(tile::kStallReasonWords[reason]);
        for (const bool of_worker : {false, true}) {
            if (const Cycles cycles = stalls_[of_worker][reason]; cycles > 0) {
                (of_worker ? result.workers : result.supervisor).stall_cycles[name] = cycles;
            }
        }
    }
    for (auto& [source, line] : lines) {
        result.lines.push_back({source, line.issues, line.cycles, std::popcount(workers[source])});
    }
    sort(result.lines);
    result.placement = placement(result.workers);
}

void Counter::tell_progress(Cycles cycle) {
    constexpr Cycles kStep = 1 << 16;
    if (cycle >= told_ + kStep) {
        told_ = cycle;
        following_.at(cycle, expected_);
    }
}

bool Counter::is_sync(Address address) {
    const auto [known, is_new] = is_sync_.try_emplace(address, false);
    if (is_new) {
        const auto words = words_at(bench_, address);
        known->second = !words.empty() && isa::decode(words.front()).opcode == isa::Opcode::sync;
    }
    return known->second;
}

Placement Counter::placement(const Activity& workers) const {
    Placement found;
    Cycles all = workers.issue_cycles;
    for (const auto& [reason, cycles] : workers.stall_cycles) {
        all += reason == tile::word(tile::StallReason::Launch) ? 0 : cycles;
    }
    for (const auto& [address, cycles] : unaligned_) {
        found.cycles += cycles;
        found.lines.push_back({source_line(bench_, address), 0, cycles});
    }
    sort(found.lines);
    found.share = all == 0 ? 0 : static_cast<double>(found.cycles) / static_cast<double>(all);
    return found;
}

void Counter::count_instruction(PointResult& result, Address address, std::int64_t times,
                                bool of_worker) const {
    bool main = false;
    bool aux = false;
    for (const std::uint32_t word : words_at(bench_, address)) {
        const isa::Operation operation = isa::decode(word);
        if (operation.opcode == isa::Opcode::kNone) {
            continue;
        }
        const bool nop = isa::is_nop(operation);
        const bool is_aux = isa::spec_of(operation.opcode).lane == isa::Lane::Aux;
        main = main || (!is_aux && !nop);
        aux = aux || (is_aux && !nop);
        result.by_mnemonic[std::string(isa::shown_mnemonic(operation))] += times;
        result.by_class[class_of(operation)] += times;
    }
    if (of_worker) {
        result.by_lane[main && aux ? "both" : main ? "main" : aux ? "aux" : "none"] += times;
    }
}

} // namespace tessera::vertex

// SPDX-License-Identifier: MIT
#include "models/tile/core/pipeline_trace.h"

#include "models/isa/assembler.h"
#include "models/isa/instruction.h"
#include "models/tile/core/tile_core.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace tessera::tile {

std::vector<traces::PipelineInstruction> pipeline_instructions(const LockstepLog& log,
                                                               const spec::MachineSpec& machine) {
    // of each context the stalls that come before its next issue
    std::map<int, std::vector<const StallRecord*>> stalls;
    std::map<int, std::size_t> next_stall;
    for (const StallRecord& stall : log.stalls) {
        if (stall.reason != StallReason::MultiCycle) {
            stalls[stall.context].push_back(&stall);
        }
    }
    std::vector<traces::PipelineInstruction> instructions;
    instructions.reserve(log.issues.size());
    for (const IssueRecord& issue : log.issues) {
        const Cycles turn = issue.context < 0 ? 1 : machine.tile.round_cycles();
        const Cycles turns = std::max(issue.issues, 1);
        traces::PipelineInstruction one;
        one.context = issue.context;
        one.address = issue.address;
        one.waits_from = issue.cycle;
        one.issue = issue.cycle;
        one.occupied_until = issue.cycle + turn * turns;
        one.done = issue.cycle + machine.tile.pipeline_cycles + turn * (turns - 1);
        const auto& waits = stalls[issue.context];
        std::size_t& next = next_stall[issue.context];
        if (next < waits.size() && waits[next]->begin < issue.cycle) {
            one.waits_from = waits[next]->begin;
        }
        while (next < waits.size() && waits[next]->begin < issue.cycle) {
            ++next;
        }
        instructions.push_back(one);
    }
    return instructions;
}

traces::InstructionText describe_instruction(const std::vector<program::Codelet>& codelets,
                                             Address address) {
    for (const program::Codelet& codelet : codelets) {
        const std::size_t index = (address - codelet.address) / 4;
        if (address < codelet.address || index >= codelet.words.size()) {
            continue;
        }
        std::vector<std::uint32_t> words{codelet.words[index]};
        if ((words[0] & isa::kBundleBit) != 0 && index + 1 < codelet.words.size()) {
            words.push_back(codelet.words[index + 1]);
        }
        return {isa::disassemble(words, address).front().text,
                CodeCache(codelets).source_line(address)};
    }
    return {};
}

} // namespace tessera::tile

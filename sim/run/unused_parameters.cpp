// SPDX-License-Identifier: MIT
#include "sim/run/unused_parameters.h"

#include "models/isa/instruction.h"

#include <algorithm>

namespace tessera::run {
namespace {

using program::Program;
using program::Step;
using Parts = std::set<std::string>;

bool has_matrix_instruction(const program::Codelet& code) {
    // Both words of a bundle are instructions; data in between at worst say "used".
    for (std::size_t i = 0; i < code.words.size(); ++i) {
        const std::uint32_t second = i + 1 < code.words.size() ? code.words[i + 1] : 0;
        const auto operation = isa::decode(code.words[i], second);
        if (operation.opcode == isa::Opcode::kNone) {
            continue;
        }
        const auto operands = isa::spec_of(isa::spec_of(operation.opcode).form).list();
        if (std::any_of(operands.begin(), operands.end(), [](const isa::OperandSpec& operand) {
                return operand.kind == isa::OperandKind::AmpFlag;
            })) {
            return true;
        }
    }
    return false;
}

/// Walks the control program and collects what it meets.
class Walk {
public:
    explicit Walk(const Program& program) : program_(program) { visit(program.control); }

    Parts parts;

private:
    void visit(const Step& step) {
        switch (step.kind) {
        case Step::Kind::Sequence:
            break;
        case Step::Kind::Repeat:
            parts.insert("repeats");
            break;
        case Step::Kind::While:
            parts.insert("whiles");
            break;
        case Step::Kind::If:
            break;
        case Step::Kind::Call:
            parts.insert("calls");
            visit(program_.functions.at(step.index).body);
            break;
        case Step::Kind::ComputeSet:
            compute_set(program_.compute_sets.at(step.index));
            break;
        case Step::Kind::Exchange:
            parts.insert("exchanges");
            break;
        case Step::Kind::Sync:
            barrier(step.zone);
            break;
        case Step::Kind::StreamStart:
            parts.insert("background copies");
            copy(program_.stream_copies.at(step.index));
            break;
        case Step::Kind::StreamCopy:
            copy(program_.stream_copies.at(step.index));
            break;
        case Step::Kind::LinkExchange:
            parts.insert({"link exchanges", "barriers between chips"});
            break;
        case Step::Kind::StreamWait:
            break;
        }
        if (step.value) {
            parts.insert("decisions");
        }
        for (const Step& child : step.children) {
            visit(child);
        }
    }

    void compute_set(const program::ComputeSet& set) {
        parts.insert("compute sets");
        if (std::any_of(set.tiles.begin(), set.tiles.end(),
                        [](const program::TileVertices& tile) { return tile.stub != 0; })) {
            parts.insert("tile code");
        }
    }

    void barrier(program::SyncZone zone) {
        using Kind = program::SyncZone::Kind;
        parts.insert(zone.kind == Kind::Chip    ? "barriers"
                     : zone.kind == Kind::Group ? "barriers between chips"
                                                : "barriers with the host");
    }

    void copy(const program::StreamCopy& copy) {
        const bool read = copy.direction == program::StreamCopy::Direction::Read;
        const bool host =
            program_.remote_buffers.at(copy.buffer).place == program::RemoteBuffer::Place::Host;
        parts.insert(host ? (read ? "reads from the host" : "writes to the host")
                          : (read ? "reads of streaming memory" : "writes to streaming memory"));
    }

    const Program& program_;
};

} // namespace

const std::set<std::string>& known_parts() {
    static const Parts parts{"background copies",
                             "barriers",
                             "barriers between chips",
                             "barriers with the host",
                             "calls",
                             "compute sets",
                             "decisions",
                             "exchanges",
                             "link exchanges",
                             "matrix instructions",
                             "reads from the host",
                             "reads of streaming memory",
                             "repeats",
                             "tile code",
                             "whiles",
                             "writes to streaming memory",
                             "writes to the host"};
    return parts;
}

Parts parts_of(const Program& program) {
    Parts parts = Walk(program).parts;
    if (parts.count("tile code") == 1 &&
        std::any_of(program.codelets.begin(), program.codelets.end(), has_matrix_instruction)) {
        parts.insert("matrix instructions");
    }
    return parts;
}

Parts parts_of(const job::Estimate& estimate) {
    Parts parts{"compute sets", "tile code"};
    if (estimate.uses_matrix_unit) {
        parts.insert("matrix instructions");
    }
    if (estimate.predicted.exchange > 0) {
        parts.insert({"barriers", "exchanges"});
    }
    return parts;
}

Parts parts_of(const program::Codelet& code) {
    return has_matrix_instruction(code) ? Parts{"tile code", "matrix instructions"}
                                        : Parts{"tile code"};
}

nlohmann::json unused_parameters(const spec::LoadedMachine& machine, const Parts& parts) {
    nlohmann::json unused = nlohmann::json::object();
    for (const auto& [pointer, origin] : machine.origins) {
        const config::Field* field =
            origin.file == "--set" ? config::field_at(spec::machine_shape(), origin.path) : nullptr;
        if (field != nullptr && !field->used_by.empty() &&
            std::none_of(field->used_by.begin(), field->used_by.end(),
                         [&](const std::string& part) { return parts.count(part) == 1; })) {
            unused[origin.path] = "the run has no " + config::either_text(field->used_by);
        }
    }
    return unused;
}

} // namespace tessera::run

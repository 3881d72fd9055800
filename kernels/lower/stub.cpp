// SPDX-License-Identifier: MIT
#include "kernels/lower/stub.h"

#include "base/bytes.h"
#include "base/error.h"
#include "models/isa/instruction.h"
#include "models/spec/memory_spec.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::lower {
namespace {

constexpr std::uint8_t kState = 0;  ///< $m0: vertex state of a supervisor vertex
constexpr std::uint8_t kEntry = 1;  ///< $m1
constexpr std::uint8_t kBase = 2;   ///< $m2
constexpr std::uint8_t kReturn = 9; ///< $m9
constexpr std::uint8_t kLink = 10;  ///< $lr
constexpr std::uint8_t kZero = 15;  ///< $mzero
constexpr std::int32_t kLocalSyncZone = 2;

class Emitter {
public:
    void set(std::uint8_t reg, Address value) {
        TESSERA_ASSERT(value < spec::kCodeReach);
        isa::Operation op;
        op.opcode = isa::Opcode::setzi_m;
        op.d = reg;
        op.imm = static_cast<std::int32_t>(value);
        emit(op);
    }
    void move(std::uint8_t to, std::uint8_t from) {
        isa::Operation op;
        op.opcode = isa::Opcode::or_u;
        op.d = to;
        op.a = from;
        emit(op);
    }
    void call(Address entry) {
        isa::Operation op;
        op.opcode = isa::Opcode::call;
        op.d = kLink;
        op.imm = static_cast<std::int32_t>(entry);
        emit(op);
    }
    void launch(isa::Opcode opcode) {
        isa::Operation op;
        op.opcode = opcode;
        op.a = kEntry;
        op.b = kBase;
        emit(op);
    }
    void sync() {
        isa::Operation op;
        op.opcode = isa::Opcode::sync;
        op.imm = kLocalSyncZone;
        emit(op);
    }
    void branch(std::uint8_t reg) {
        isa::Operation op;
        op.opcode = isa::Opcode::br;
        op.a = reg;
        emit(op);
    }
    void emit(const isa::Operation& op) { words_.push_back(isa::encode(op)); }
    [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(words_); }

private:
    std::vector<std::uint32_t> words_;
};

} // namespace

std::vector<std::uint32_t> make_stub(const std::vector<program::Vertex>& vertices,
                                     Address region0_base, std::optional<std::uint32_t> mark) {
    Emitter code;
    const bool calls =
        std::any_of(vertices.begin(), vertices.end(), [](const program::Vertex& vertex) {
            return vertex.kind == program::VertexKind::Supervisor;
        });
    if (calls && mark) {
        code.set(kReturn, *mark);
    } else if (calls) {
        code.move(kReturn, kLink);
    }
    for (const program::Vertex& vertex : vertices) {
        switch (vertex.kind) {
        case program::VertexKind::Supervisor:
            code.set(kState, vertex.state_address);
            code.call(vertex.entry);
            break;
        case program::VertexKind::MultiWorker:
            code.set(kEntry, vertex.entry);
            code.set(kBase, vertex.state_address);
            code.launch(isa::Opcode::runall);
            code.sync();
            break;
        case program::VertexKind::Worker: // `run` counts its vertex base from region 0
            code.set(kEntry, vertex.entry);
            code.set(kBase, vertex.state_address - region0_base);
            code.launch(isa::Opcode::run);
            code.sync();
            break;
        }
    }
    code.branch(!calls ? kLink : mark ? kZero : kReturn);
    return code.take();
}

std::vector<Bytes> stub_bytes(const graph::Graph& graph, const Steps& steps) {
    struct Calls {
        Bytes words = 1; // the branch at the end
        bool supervisors = false;
    };
    std::vector<Bytes> longest;
    std::vector<Calls> of_tile;
    for (const std::uint32_t number : steps.sets) {
        std::fill(of_tile.begin(), of_tile.end(), Calls{});
        Bytes most = 0;
        for (const graph::Vertex& vertex : graph.compute_sets[number].vertices) {
            while (vertex.tile >= of_tile.size()) {
                of_tile.emplace_back();
            }
            Calls& calls = of_tile[vertex.tile];
            const bool calls_it = vertex.kind == program::VertexKind::Supervisor;
            calls.words += calls_it ? 2 : 4;
            calls.words += calls_it && !calls.supervisors ? 1 : 0; // the link register is kept
            calls.supervisors = calls.supervisors || calls_it;
            most = std::max(most, 4 * calls.words);
        }
        longest.push_back(most);
    }
    return longest;
}

Stubs make_stubs(std::span<const program::ComputeSet> sets, Address region0_base) {
    std::map<std::vector<std::uint32_t>, program::SharedBytes> known;
    Stubs stubs;
    for (const program::ComputeSet& set : sets) {
        auto& code = stubs.code.emplace_back(set.tiles.size());
        Bytes longest = 0;
        for (std::size_t tile = 0; tile < set.tiles.size(); ++tile) {
            if (set.tiles[tile].vertices.empty()) {
                continue;
            }
            auto words = make_stub(set.tiles[tile].vertices, region0_base);
            longest = std::max(longest, static_cast<Bytes>(4 * words.size()));
            const auto found = known.find(words);
            if (found != known.end()) {
                code[tile] = found->second;
                continue;
            }
            code[tile] = shared_bytes(words);
            known.emplace(std::move(words), code[tile]);
        }
        stubs.bytes.push_back(longest);
    }
    return stubs;
}

} // namespace tessera::lower

// SPDX-License-Identifier: MIT
#include "models/tile/core/tile_classes.h"

#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace tessera::tile {

using ReadKind = isa::ShadowRead::Kind;

bool PhaseResult::operator==(const PhaseResult& other) const {
    return outcome == other.outcome && contexts == other.contexts && registers == other.registers &&
           lost == other.lost && stored == other.stored && stored_values == other.stored_values &&
           unknown_addresses == other.unknown_addresses && knows_rounds == other.knows_rounds;
}

TileClasses::TileClasses() = default;

std::uint32_t TileClasses::child(const Node& node, std::uint64_t value) {
    for (const Edge& edge : node.edges) {
        if (edge.value == value) {
            return edge.node;
        }
    }
    return kNone;
}

std::uint64_t TileClasses::value_of(const Node& node, const View& tile) {
    switch (node.kind) {
    case ReadKind::Word: {
        std::uint32_t value = 0;
        std::memcpy(&value, tile.memory + std::size_t{node.word} * 4, sizeof value);
        return isa::shadow_value(tile.known->get(node.word), value);
    }
    case ReadKind::Shared:
        for (const program::SharedWords& one : *tile.shared) {
            if (one.words.first == node.word) {
                return one.identity;
            }
        }
        return 0;
    case ReadKind::TileNumber:
        return tile.tile;
    case ReadKind::Round:
        return tile.known->get(node.word) ? 1 : 0;
    case ReadKind::Scatter:
        return node.word < tile.vertices.size() ? tile.vertices[node.word].scatters
                                                : program::Vertex::kNowhere;
    }
    return 0;
}

TileClasses::Found TileClasses::find(const Start& start, const View& tile) {
    Found found;
    ++phases_;
    const auto follow = [&] {
        for (found.path.clear();;) {
            const Node& node = nodes_[found.node];
            if (node.result != nullptr) {
                found.result = node.result.get();
                return;
            }
            if (!node.reads) {
                return;
            }
            const std::uint64_t value = value_of(node, tile);
            const std::uint32_t next = child(node, value);
            if (next == kNone) {
                return;
            }
            found.path.push_back({node.kind, node.word, value});
            found.node = next;
        }
    };
    {
        const std::shared_lock lock(mutex_);
        if (const auto root = roots_.find(start); root != roots_.end()) {
            found.node = root->second;
            follow();
            return found;
        }
    }
    const std::unique_lock lock(mutex_);
    const auto [root, added] = roots_.try_emplace(start, static_cast<std::uint32_t>(nodes_.size()));
    if (added) {
        nodes_.emplace_back();
    }
    found.node = root->second;
    follow();
    return found;
}

void TileClasses::add(const Found& found, const std::vector<isa::ShadowRead>& reads,
                      PhaseResult result) {
    const std::unique_lock lock(mutex_);
    std::uint32_t at = found.node;
    for (const isa::ShadowRead& read : reads) {
        if (std::find(found.path.begin(), found.path.end(), read) != found.path.end()) {
            continue; // the way to the node has it
        }
        if (nodes_[at].result != nullptr) {
            break; // by another thread: the same reads end there
        }
        if (!nodes_[at].reads) {
            nodes_[at].reads = true;
            nodes_[at].kind = read.kind;
            nodes_[at].word = read.word;
        } else if (nodes_[at].kind != read.kind || nodes_[at].word != read.word) {
            return; // a tile without what others share there: it is run each time
        }
        std::uint32_t next = child(nodes_[at], read.value);
        if (next == kNone) {
            next = static_cast<std::uint32_t>(nodes_.size());
            nodes_.emplace_back();
            nodes_[at].edges.push_back({read.value, next});
        }
        at = next;
    }
    Node& end = nodes_[at];
    if (end.result == nullptr) {
        TESSERA_ASSERT(!end.reads);
        end.result = std::make_unique<const PhaseResult>(std::move(result));
        ++classes_;
    } else {
        TESSERA_ASSERT(*end.result == result);
    }
}

std::uint32_t TileClasses::code_number(const std::vector<const isa::DecodedProgram*>& code) {
    const std::unique_lock lock(mutex_);
    const auto found = std::find(codes_.begin(), codes_.end(), code);
    if (found != codes_.end()) {
        return static_cast<std::uint32_t>(found - codes_.begin());
    }
    codes_.push_back(code);
    return static_cast<std::uint32_t>(codes_.size() - 1);
}

std::uint32_t TileClasses::registers_number(const SupervisorRegisters& registers) {
    const std::unique_lock lock(mutex_);
    const auto found = std::find(registers_.begin(), registers_.end(), registers);
    if (found != registers_.end()) {
        return static_cast<std::uint32_t>(found - registers_.begin());
    }
    registers_.push_back(registers);
    return static_cast<std::uint32_t>(registers_.size() - 1);
}

const SupervisorRegisters& TileClasses::registers(std::uint32_t number) const {
    const std::shared_lock lock(mutex_);
    return registers_[number];
}

std::int64_t TileClasses::classes() const {
    const std::shared_lock lock(mutex_);
    return classes_;
}

} // namespace tessera::tile

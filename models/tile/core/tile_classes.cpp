// SPDX-License-Identifier: MIT
#include "models/tile/core/tile_classes.h"

#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace tessera::tile {

namespace {

/// Phases of a start before it is judged, and which part of them is worth the search.
constexpr std::int64_t kJudged = 4096;
constexpr std::int64_t kOneIn = 32;

} // namespace

using ReadKind = isa::ShadowRead::Kind;

bool PhaseResult::operator==(const PhaseResult& other) const {
    return outcome == other.outcome && contexts == other.contexts && registers == other.registers &&
           lost == other.lost && stored == other.stored && stored_values == other.stored_values &&
           unknown_addresses == other.unknown_addresses && knows_rounds == other.knows_rounds;
}

std::size_t PhaseResult::bytes() const {
    return sizeof(PhaseResult) + contexts.size() * sizeof(ContextSpan) +
           (lost.size() + stored.size()) * sizeof(program::WordRange) +
           stored_values.size() * sizeof(std::uint32_t);
}

TileClasses::TileClasses() = default;

std::uint32_t TileClasses::child(const Node& node, std::uint64_t value) {
    const auto edge = std::ranges::lower_bound(node.edges, value, {}, &Edge::value);
    return edge != node.edges.end() && edge->value == value ? edge->node : kNone;
}

std::uint64_t TileClasses::value_of(const isa::ShadowRead& read, const View& tile) {
    switch (read.kind) {
    case ReadKind::Word: {
        std::uint32_t value = 0;
        std::memcpy(&value, tile.memory + std::size_t{read.word} * 4, sizeof value);
        return isa::shadow_value(tile.known->get(read.word), value);
    }
    case ReadKind::Shared:
        for (const program::SharedWords& one : *tile.shared) {
            if (one.words.first == read.word) {
                return one.identity;
            }
        }
        return 0;
    case ReadKind::TileNumber:
        return tile.tile;
    case ReadKind::Round:
        return tile.known->get(read.word) ? 1 : 0;
    case ReadKind::Scatter:
        return read.word < tile.vertices.size() ? tile.vertices[read.word].scatters
                                                : program::Vertex::kNowhere;
    case ReadKind::AreKnown:
        return tile.known->all({read.word, read.count}) ? 1 : 0;
    }
    return 0;
}

TileClasses::Found TileClasses::find(const Start& start, const View& tile) {
    ++phases_;
    const auto followed = [&](std::uint32_t node_of_root) -> const PhaseResult* {
        for (std::uint32_t at = node_of_root; at != kNone;) {
            const Node& node = nodes_[at];
            for (ReadPath::Reader reader(node.shared); !reader.at_end(); reader.advance()) {
                const isa::ShadowRead read = reader.read();
                if (value_of(read, tile) != read.value) {
                    return nullptr;
                }
            }
            if (node.result != nullptr) {
                return node.result.get();
            }
            at = node.edges.empty() ? kNone : child(node, value_of(node.next, tile));
        }
        return nullptr;
    };
    const auto found = [&](Root& root) {
        const PhaseResult* const result = root.is_alone ? nullptr : followed(root.node);
        root.alike += result != nullptr ? 1 : 0;
        return std::pair{Found{result, &root}, ++root.phases == kJudged};
    };
    std::pair<Found, bool> answer;
    {
        const std::shared_lock lock(mutex_);
        if (const auto root = roots_.find(start); root != roots_.end()) {
            answer = found(root->second);
        }
    }
    if (answer.first.root == nullptr || answer.second) {
        const std::unique_lock lock(mutex_);
        if (answer.first.root == nullptr) {
            answer = found(roots_[start]);
        }
        if (answer.second) {
            to_judge_.push_back(answer.first.root);
        }
    }
    return answer.first;
}

/// Only the first `reads` reads that its phases share stay in the node; the next one decides.
void TileClasses::split(std::uint32_t number, std::size_t reads) {
    const auto rest = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    Node& node = nodes_[number];
    Node& behind = nodes_[rest];
    ReadPath before;
    ReadPath::Reader reader(node.shared);
    for (; before.size() < reads; reader.advance()) {
        before.append(reader.read());
    }
    const isa::ShadowRead decides = reader.read();
    for (reader.advance(); !reader.at_end(); reader.advance()) {
        behind.shared.append(reader.read());
    }
    behind.next = node.next;
    behind.edges = std::move(node.edges);
    behind.result = std::move(node.result);
    node.shared = std::move(before);
    node.next = decides;
    node.edges = {{decides.value, rest}};
}

void TileClasses::end(Node& node, PhaseResult result) {
    node.result = std::make_unique<const PhaseResult>(std::move(result));
    ++classes_;
}

void TileClasses::add(const Found& found, const std::vector<isa::ShadowRead>& reads,
                      PhaseResult result) {
    const auto same_question = [](const isa::ShadowRead& one, const isa::ShadowRead& other) {
        return one.kind == other.kind && one.word == other.word && one.count == other.count;
    };
    if (found.root->is_alone) {
        ++classes_;
        return;
    }
    const std::unique_lock lock(mutex_);
    if (found.root->node == kNone) {
        found.root->node = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
    }
    std::uint32_t at = found.root->node;
    for (auto read = reads.begin();;) {
        std::size_t agreed = 0;
        for (ReadPath::Reader reader(nodes_[at].shared); !reader.at_end(); reader.advance()) {
            const isa::ShadowRead other = reader.read();
            if (read == reads.end() || !same_question(*read, other)) {
                return; // a tile without what others share there: it is run each time
            }
            if (read->value != other.value) {
                break;
            }
            ++read;
            ++agreed;
        }
        if (agreed < nodes_[at].shared.size()) {
            split(at, agreed);
        }
        Node& node = nodes_[at];
        if (node.result != nullptr) { // by another thread
            TESSERA_ASSERT(read == reads.end() && *node.result == result);
            ++found.root->alike;
            return;
        }
        const bool is_new = node.edges.empty();
        if (!is_new && (read == reads.end() || !same_question(*read, node.next))) {
            return;
        }
        std::uint32_t to = is_new ? at : child(node, read->value);
        if (is_new || to == kNone) {
            if (to == kNone) {
                to = static_cast<std::uint32_t>(nodes_.size());
                node.edges.insert(
                    std::ranges::lower_bound(node.edges, read->value, {}, &Edge::value),
                    {read->value, to});
                nodes_.emplace_back();
                ++read;
            }
            for (; read != reads.end(); ++read) {
                nodes_[to].shared.append(*read);
            }
            kept_bytes_ += sizeof(Node) + nodes_[to].shared.bytes() + result.bytes();
            end(nodes_[to], std::move(result));
            return;
        }
        at = to;
        ++read;
    }
}

void TileClasses::between_steps(std::size_t most_bytes) {
    const std::unique_lock lock(mutex_);
    for (Root* const root : to_judge_) {
        root->is_alone = root->alike * kOneIn < root->phases;
    }
    to_judge_.clear();
    if (kept_bytes_ > most_bytes) {
        nodes_.clear();
        for (auto& [start, root] : roots_) {
            root.node = kNone;
        }
        kept_bytes_ = 0;
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
    return classes_;
}

} // namespace tessera::tile

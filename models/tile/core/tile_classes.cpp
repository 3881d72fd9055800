// SPDX-License-Identifier: MIT
#include "models/tile/core/tile_classes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>

namespace tessera::tile {

namespace {

/// A start is judged when it has had so many phases, twice as many, four times as many ...
constexpr std::int64_t kFewest = 32;
/// The search is worth while where one in so many of a start's phases is alike.
constexpr std::int64_t kOneIn = 32;
/// Phases without sections are searched for up to so many of them.
constexpr std::int64_t kSearched = 4096;
/// Sections of a phase in the mean, at least: those of the first and of the last pass are hardly alike.
constexpr std::int64_t kSections = 4;

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
    const auto value = [&tile](const isa::ShadowRead& read) { return value_of(read, tile); };
    const auto found = [&](Root& root) {
        const PhaseResult* const result = root.is_alone ? nullptr : trie_.find(root.node, value);
        root.alike += result != nullptr ? 1 : 0;
        const auto phases = static_cast<std::uint64_t>(++root.phases);
        return std::pair{Found{result, &root, !root.is_alone && !root.goes_by_sections},
                         phases >= kFewest && std::has_single_bit(phases)};
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

void TileClasses::add(const Found& found, const std::vector<isa::ShadowRead>& reads,
                      PhaseResult result, std::int64_t sections) {
    if (!found.keeps) {
        found.root->sections += sections;
        ++classes_;
        return;
    }
    const std::unique_lock lock(mutex_);
    Root& root = *found.root;
    using Added = ReadTrie<PhaseResult>::Added;
    switch (trie_.add(root.node, reads, std::move(result))) {
    case Added::New:
        root.sections += sections;
        ++classes_;
        break;
    case Added::Met: // by another thread
        ++root.alike;
        break;
    case Added::NoWay: // a tile without what others share there: it is run each time
        break;
    }
}

void TileClasses::judge() {
    const std::unique_lock lock(mutex_);
    for (Root* const root : to_judge_) {
        const std::int64_t phases = root->phases;
        const bool is_alike = root->alike * kOneIn >= phases;
        root->is_alone = !is_alike && phases >= kSearched;
        root->goes_by_sections =
            !is_alike && (root->goes_by_sections || root->sections >= kSections * phases);
    }
    to_judge_.clear();
}

void TileClasses::between_steps(std::size_t most_bytes) {
    judge();
    const std::unique_lock lock(mutex_);
    if (trie_.bytes() > most_bytes) {
        trie_.clear();
        for (auto& [start, root] : roots_) {
            root.node = ReadTrie<PhaseResult>::kNone;
        }
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
    const auto number_from = [&](std::size_t first) {
        const auto from = registers_.begin() + static_cast<std::ptrdiff_t>(first);
        return static_cast<std::size_t>(std::find(from, registers_.end(), registers) -
                                        registers_.begin());
    };
    std::size_t looked_at = 0;
    {
        const std::shared_lock lock(mutex_);
        const std::size_t number = number_from(0);
        looked_at = registers_.size();
        if (number != looked_at) {
            return static_cast<std::uint32_t>(number);
        }
    }
    const std::unique_lock lock(mutex_); // another thread may have added them meanwhile
    const std::size_t number = number_from(looked_at);
    if (number == registers_.size()) {
        registers_.push_back(registers);
    }
    return static_cast<std::uint32_t>(number);
}

const SupervisorRegisters& TileClasses::registers(std::uint32_t number) const {
    const std::shared_lock lock(mutex_);
    return registers_[number];
}

std::int64_t TileClasses::classes() const {
    return classes_;
}

} // namespace tessera::tile

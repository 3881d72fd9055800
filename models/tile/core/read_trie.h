// SPDX-License-Identifier: MIT
// Timing mode: results of what was run, by what it read first. Paths of reads that begin alike share
// their begin. Reads that all paths through a node have are one piece; the value of the next one
// decides which way a path goes.
//
// The caller sees to it that nobody adds while somebody looks.
#pragma once

#include "base/error.h"
#include "models/isa/shadow.h"
#include "models/tile/core/read_path.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::tile {

/// `Result` has operator== and bytes(), what it takes in the host's memory.
template <class Result> class ReadTrie {
public:
    static constexpr std::uint32_t kNone = 0xffffffff;

    /// Follows the path from a node (or kNone) on by the values that `value_of(read)` gives. Null where
    /// no result has these reads; then the values of some of them have been asked for.
    template <class ValueOf>
    [[nodiscard]] const Result* find(std::uint32_t root, const ValueOf& value_of) const {
        for (std::uint32_t at = root; at != kNone;) {
            const Node& node = nodes_[at];
            for (ReadPath::Reader reader(node.shared); !reader.at_end(); reader.advance()) {
                const isa::ShadowRead read = reader.read();
                if (value_of(read) != read.value) {
                    return nullptr;
                }
            }
            if (node.result != nullptr) {
                return node.result.get();
            }
            at = node.edges.empty() ? kNone : child(node, value_of(node.next));
        }
        return nullptr;
    }

    enum class Added : std::uint8_t {
        New,
        Met,   ///< the same reads have the same result there
        NoWay, ///< the reads ask what others on their way do not ask: nothing is kept
    };
    /// Adds a result under `root`, which is made if it is kNone. Asserts that equal reads have equal
    /// results.
    Added add(std::uint32_t& root, const std::vector<isa::ShadowRead>& reads, Result result) {
        if (root == kNone) {
            root = make_node();
        }
        std::uint32_t at = root;
        for (auto read = reads.begin();;) {
            std::size_t agreed = 0;
            for (ReadPath::Reader reader(nodes_[at].shared); !reader.at_end(); reader.advance()) {
                const isa::ShadowRead other = reader.read();
                if (read == reads.end() || !same_question(*read, other)) {
                    return Added::NoWay;
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
            if (node.result != nullptr) {
                TESSERA_ASSERT(read == reads.end() && *node.result == result);
                return Added::Met;
            }
            const bool is_new = node.edges.empty();
            if (!is_new && (read == reads.end() || !same_question(*read, node.next))) {
                return Added::NoWay;
            }
            std::uint32_t to = is_new ? at : child(node, read->value);
            if (is_new || to == kNone) {
                if (to == kNone) {
                    to = make_node();
                    node.edges.insert(
                        std::ranges::lower_bound(node.edges, read->value, {}, &Edge::value),
                        {read->value, to});
                    ++read;
                }
                for (; read != reads.end(); ++read) {
                    nodes_[to].shared.append(*read);
                }
                bytes_ += sizeof(Node) + nodes_[to].shared.bytes() + result.bytes();
                nodes_[to].result = std::make_unique<const Result>(std::move(result));
                return Added::New;
            }
            at = to;
            ++read;
        }
    }

    /// No node exists any more.
    void clear() {
        nodes_.clear();
        bytes_ = 0;
    }
    /// What it takes in the host's memory.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    struct Edge {
        std::uint64_t value = 0;
        std::uint32_t node = kNone;
    };
    /// Reads that all its paths have, and then either they end, or the value of the next read decides.
    /// A node without either is a root that no path has come to.
    struct Node {
        ReadPath shared;
        isa::ShadowRead next;    ///< without value
        std::vector<Edge> edges; ///< ascending by value
        std::unique_ptr<const Result> result;
    };

    static bool same_question(const isa::ShadowRead& one, const isa::ShadowRead& other) {
        return one.kind == other.kind && one.word == other.word && one.count == other.count;
    }
    [[nodiscard]] static std::uint32_t child(const Node& node, std::uint64_t value) {
        const auto edge = std::ranges::lower_bound(node.edges, value, {}, &Edge::value);
        return edge != node.edges.end() && edge->value == value ? edge->node : kNone;
    }
    std::uint32_t make_node() {
        nodes_.emplace_back();
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    /// Only the first `reads` reads that its paths share stay in the node; the next one decides.
    void split(std::uint32_t number, std::size_t reads) {
        const std::uint32_t rest = make_node();
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

    std::deque<Node> nodes_;
    std::size_t bytes_ = 0; ///< of nodes that end
};

} // namespace tessera::tile

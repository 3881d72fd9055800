// SPDX-License-Identifier: MIT
#include "kernels/graph/append.h"

#include "base/error.h"
#include "kernels/graph/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace tessera::graph {
namespace {

class Appender {
public:
    Appender(Graph& whole, Graph part, TileId first_tile, const std::string& owner)
        : whole_(whole), part_(std::move(part)), first_tile_(first_tile), owner_(owner),
          tables_(size_of(whole.tables)), sets_(size_of(whole.compute_sets)),
          exchanges_(size_of(whole.exchanges)), copies_(size_of(whole.stream_copies)),
          remote_buffers_(size_of(whole.remote_buffers)) {}

    /// Buffers of the part that are there already.
    void share(const SharedBuffers& buffers) {
        shared_.resize(part_.buffers.size());
        for (const auto& [of_part, of_whole] : buffers) {
            shared_[of_part] = of_whole;
            join(whole_.buffers[of_whole.index], part_.buffers[of_part]);
            for (const Held& held : part_.buffers[of_part].held) {
                whole_.hold(of_whole, held.tile + first_tile_, held.bytes);
            }
            joined_.push_back(of_part);
        }
    }

    Appended run() {
        for (const std::string& symbol : part_.symbols) {
            symbols_.push_back(whole_.symbol_number(symbol));
        }
        for (const std::string& codelet : part_.codelets) {
            whole_.need_codelet(codelet);
        }
        whole_.own_codelets.merge(part_.own_codelets);
        add_buffers();
        add_fields();
        add_steps();
        Appended made;
        for (Tensor& tensor : part_.tensors) {
            for (Piece& piece : tensor.pieces) {
                piece.tile += first_tile_;
                piece.place = moved(piece.place);
            }
            made.tensors.push_back(whole_.add_tensor(std::move(tensor)));
        }
        made.control = renumbered(part_.control);
        made.buffers = std::move(buffers_);
        return made;
    }

private:
    template <class T> static std::uint32_t size_of(const std::vector<T>& all) {
        return static_cast<std::uint32_t>(all.size());
    }
    [[nodiscard]] Place moved(Place place) const {
        place.buffer = buffers_[place.buffer.index];
        return place;
    }
    [[nodiscard]] TilePlace moved(const TilePlace& at) const {
        return {at.tile + first_tile_, moved(at.place())};
    }

    /// What both want of a buffer.
    static void join(Buffer& whole, const Buffer& part) {
        whole.alignment = std::max(whole.alignment, part.alignment);
        whole.where = whole.where == Where::Any ? part.where : whole.where;
        whole.read_beyond = std::max(whole.read_beyond, part.read_beyond);
    }

    void add_buffers() {
        const auto stack = stack_of_whole();
        shared_.resize(part_.buffers.size());
        auto next = size_of(whole_.buffers);
        for (std::size_t i = 0; i < part_.buffers.size(); ++i) {
            const auto known = is_stack(part_.buffers[i]) && stack ? stack : shared_[i];
            buffers_.push_back(known ? *known : BufferId{next++});
        }
        for (const std::uint32_t joined : joined_) {
            for (const BufferId other : part_.buffers[joined].apart) {
                whole_.buffers[shared_[joined]->index].apart.push_back(buffers_[other.index]);
            }
        }
        for (std::size_t i = 0; i < part_.buffers.size(); ++i) {
            Buffer& buffer = part_.buffers[i];
            if (shared_[i]) {
                continue;
            }
            for (BufferId& other : buffer.apart) {
                other = buffers_[other.index];
            }
            for (Held& held : buffer.held) {
                held.tile += first_tile_;
                held.relocations = moved(held.relocations);
            }
            if (is_stack(buffer) && stack) {
                for (const Held& held : buffer.held) {
                    whole_.hold(*stack, held.tile, held.bytes);
                }
            } else {
                whole_.add_buffer(std::move(buffer));
            }
        }
    }
    /// A tile has one stack, whoever uses it.
    static bool is_stack(const Buffer& buffer) {
        return buffer.kind == program::SegmentKind::Stack;
    }
    [[nodiscard]] std::optional<BufferId> stack_of_whole() const {
        const auto found = std::find_if(whole_.buffers.begin(), whole_.buffers.end(), is_stack);
        return found == whole_.buffers.end()
                   ? std::nullopt
                   : std::optional(
                         BufferId{static_cast<std::uint32_t>(found - whole_.buffers.begin())});
    }
    /// Relocations that tiles share stay shared.
    Relocations moved(const Relocations& relocations) {
        if (relocations == nullptr) {
            return nullptr;
        }
        Relocations& known = relocations_[relocations.get()];
        if (known == nullptr) {
            auto changed = *relocations;
            for (Relocation& one : changed) {
                if (one.is_symbol) {
                    one.symbol = symbols_[one.symbol];
                } else {
                    one.buffer = buffers_[one.buffer].index;
                }
            }
            known = std::make_shared<const std::vector<Relocation>>(std::move(changed));
        }
        return known;
    }

    void add_fields() {
        fields_ = size_of(whole_.fields);
        for (Field field : part_.fields) {
            if (field.kind == Field::Kind::Table) {
                field.word += tables_;
            } else if (field.kind != Field::Kind::Word) {
                field.place = moved(field.place);
            }
            whole_.fields.push_back(field);
        }
        for (Table table : part_.tables) {
            table.tile += first_tile_;
            table.fields.first += fields_;
            whole_.tables.push_back(table);
        }
    }

    void add_steps() {
        for (ComputeSet& set : part_.compute_sets) {
            for (Vertex& vertex : set.vertices) {
                vertex.tile += first_tile_;
                vertex.symbol = symbols_[vertex.symbol];
                vertex.fields.first += fields_;
            }
            if (!set.work.empty()) {
                set.work.insert(set.work.begin(), first_tile_, 0);
            }
            if (!set.items.empty()) {
                set.items.insert(set.items.begin(), first_tile_, program::WorkItem{});
            }
            set.owner = owner_;
            whole_.add_compute_set(std::move(set));
        }
        for (Exchange& exchange : part_.exchanges) {
            for (Message& message : exchange.messages) {
                message.from = moved(message.from);
            }
            for (TilePlace& to : exchange.to) {
                to = moved(to);
            }
            exchange.owner = owner_;
            whole_.add_exchange(std::move(exchange));
        }
        add_stream_copies();
    }
    void add_stream_copies() {
        for (program::RemoteBuffer& buffer : part_.remote_buffers) {
            whole_.remote_buffers.push_back(std::move(buffer));
        }
        for (StreamCopy& copy : part_.stream_copies) {
            for (StreamPiece& piece : copy.pieces) {
                piece.tile += first_tile_;
                piece.place = moved(piece.place);
            }
            for (RowNumbers& numbers : copy.rows_from) {
                numbers.tile += first_tile_;
                numbers.place = moved(numbers.place);
            }
            copy.remote_buffer += remote_buffers_;
            copy.owner = owner_;
            whole_.add_stream_copy(std::move(copy));
        }
        for (const TileId tile : part_.io_tiles) {
            const auto at = std::lower_bound(whole_.io_tiles.begin(), whole_.io_tiles.end(),
                                             tile + first_tile_);
            if (at == whole_.io_tiles.end() || *at != tile + first_tile_) {
                whole_.io_tiles.insert(at, tile + first_tile_);
            }
        }
    }
    [[nodiscard]] Step renumbered(Step step) const {
        switch (step.kind) {
        case Step::Kind::LinkExchange:
            throw NotModelled("link exchanges in a part of a graph: not modelled");
        case Step::Kind::ComputeSet:
            step.index += sets_;
            break;
        case Step::Kind::Exchange:
            step.index += exchanges_;
            break;
        case Step::Kind::StreamCopy:
        case Step::Kind::StreamStart:
        case Step::Kind::StreamWait:
            step.index += copies_;
            break;
        default:
            break;
        }
        if (step.word) {
            step.word = moved(*step.word);
        }
        for (BufferId& round : step.rounds) {
            round = buffers_[round.index];
        }
        for (Step& child : step.children) {
            child = renumbered(std::move(child));
        }
        return step;
    }

    Graph& whole_;
    Graph part_;
    TileId first_tile_;
    const std::string& owner_;
    std::vector<BufferId> buffers_;               ///< of the whole, by buffer of the part
    std::vector<std::optional<BufferId>> shared_; ///< those that are there already
    std::vector<std::uint32_t> joined_; ///< those of them that want something of their own
    std::uint32_t tables_;              ///< numbers begin here
    std::uint32_t sets_;
    std::uint32_t exchanges_;
    std::uint32_t copies_;
    std::uint32_t remote_buffers_;
    std::uint32_t fields_ = 0;
    std::vector<std::uint32_t> symbols_; ///< of the whole, by symbol of the part
    std::map<const void*, Relocations> relocations_;
};

using Kind = Step::Kind;

/// Leaves and loops in the order in which they run; sequences in sequences are laid open.
void flatten(const Step& step, std::vector<Step>& all) {
    if (step.kind != Kind::Sequence) {
        all.push_back(step);
        return;
    }
    for (const Step& child : step.children) {
        flatten(child, all);
    }
}

class Weaver {
public:
    explicit Weaver(Graph& graph) : graph_(graph) {}

    std::vector<std::pair<Leaf, Leaf>> moved;

    Step weave(const Step& left, const Step& right) {
        std::vector<Step> one;
        std::vector<Step> other;
        flatten(left, one);
        flatten(right, other);
        std::vector<Step> woven;
        auto a = one.begin();
        auto b = other.begin();
        while (a != one.end() || b != other.end()) {
            if (a == one.end() || b == other.end()) {
                woven.push_back(a == one.end() ? *b++ : *a++);
            } else if (a->kind == b->kind) {
                woven.push_back(both(*a++, *b++));
            } else if (a->kind == Kind::ComputeSet || b->kind == Kind::ComputeSet) {
                // the other goes on when both are at an exchange or a loop
                woven.push_back(a->kind == Kind::ComputeSet ? *a++ : *b++);
            } else {
                refuse();
            }
        }
        return sequence(std::move(woven));
    }

private:
    [[noreturn]] static void refuse() {
        throw NotModelled(
            "parallel parts with different control: not modelled; see docs/kernels.md");
    }

    Step both(const Step& left, const Step& right) {
        switch (left.kind) {
        case Kind::ComputeSet:
            join(graph_.compute_sets[left.index], graph_.compute_sets[right.index]);
            break;
        case Kind::Exchange:
            join(graph_.exchanges[left.index], graph_.exchanges[right.index]);
            break;
        case Kind::Repeat:
            if (left.count == right.count) {
                Step both =
                    repeat(left.count, {weave(sequence(left.children), sequence(right.children))});
                both.rounds = left.rounds;
                both.rounds.insert(both.rounds.end(), right.rounds.begin(), right.rounds.end());
                return both;
            }
            refuse();
        default:
            refuse();
        }
        moved.push_back({{right.kind, right.index}, {left.kind, left.index}});
        return left;
    }
    template <class Of> static void name_for_both(Of& left, const Of& right) {
        left.name += " | " + right.name;
        left.owner += left.owner == right.owner ? "" : " | " + right.owner;
    }
    static void join(ComputeSet& left, ComputeSet& right) {
        name_for_both(left, right);
        left.vertices.insert(left.vertices.end(), right.vertices.begin(), right.vertices.end());
        right.vertices.clear();
        join_work(left, right);
    }
    /// Amounts in different units do not add up, and rows of two matrices have the same numbers.
    static void join_work(ComputeSet& left, const ComputeSet& right) {
        left.items.clear();
        if (left.work_unit != right.work_unit) {
            left.work_unit.clear();
            left.work.clear();
            return;
        }
        left.work.resize(std::max(left.work.size(), right.work.size()));
        std::transform(right.work.begin(), right.work.end(), left.work.begin(), left.work.begin(),
                       std::plus<>());
    }
    static void join(Exchange& left, Exchange& right) {
        name_for_both(left, right);
        for (Message message : right.messages) {
            message.first_to += static_cast<std::uint32_t>(left.to.size());
            left.messages.push_back(message);
        }
        left.to.insert(left.to.end(), right.to.begin(), right.to.end());
        right.messages.clear();
        right.to.clear();
    }

    Graph& graph_;
};

} // namespace

Appended append(Graph& whole, Graph part, TileId first_tile, const std::string& owner) {
    return Appender(whole, std::move(part), first_tile, owner).run();
}

Appended append(Graph& whole, Graph part, TileId first_tile, const std::string& owner,
                const SharedBuffers& shared) {
    Appender appender(whole, std::move(part), first_tile, owner);
    appender.share(shared);
    return appender.run();
}

std::optional<SharedBuffers> shared_buffers(const Graph& whole, TensorId standing,
                                            const Graph& part, TensorId wanted, TileId first_tile,
                                            bool may_write) {
    Tensor moved = part.tensors.at(wanted.index);
    for (Piece& piece : moved.pieces) {
        piece.tile += first_tile;
    }
    const Tensor& stands = whole.tensors.at(standing.index);
    const auto pairs = moved.type == stands.type ? alike(moved, stands) : std::nullopt;
    if (!pairs) {
        return std::nullopt;
    }
    const auto is_one = [&](const BufferId buffer) { return pairs->contains(buffer.index); };
    std::set<std::uint32_t> different;
    for (const auto& [of_part, of_whole] : *pairs) {
        const Buffer& one = part.buffers[of_part];
        const Buffer& other = whole.buffers[of_whole.index];
        const bool fits =
            one.kind == other.kind && (!one.padded || other.padded) && !one.zeroed &&
            (one.where == Where::Any || other.where == Where::Any || one.where == other.where);
        if (!fits || !different.insert(of_whole.index).second) {
            return std::nullopt;
        }
    }
    if (may_write) {
        return pairs;
    }
    const bool is_written =
        std::ranges::any_of(part.fields,
                            [&](const Field& field) {
                                return (field.kind == Field::Kind::Pointer ||
                                        field.kind == Field::Kind::Use) &&
                                       field.access != Access::Read && is_one(field.place.buffer);
                            }) ||
        std::ranges::any_of(part.exchanges,
                            [&](const Exchange& exchange) {
                                return std::ranges::any_of(exchange.to, [&](const TilePlace& to) {
                                    return is_one(to.buffer);
                                });
                            }) ||
        std::ranges::any_of(part.stream_copies, [&](const StreamCopy& copy) {
            return std::ranges::any_of(
                copy.pieces, [&](const StreamPiece& piece) { return is_one(piece.place.buffer); });
        });
    return is_written ? std::nullopt : pairs;
}

SideBySide side_by_side(Graph& graph, const Step& left, const Step& right) {
    Weaver weaver(graph);
    Step steps = weaver.weave(left, right);
    return {std::move(steps), std::move(weaver.moved)};
}

} // namespace tessera::graph

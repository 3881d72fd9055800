// SPDX-License-Identifier: MIT
#include "kernels/graph/copy.h"

#include "base/error.h"
#include "kernels/graph/copy_gathers.h"
#include "models/isa/machine_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace tessera::graph {
namespace {

/// From so many local runs on, one vertex with a list of them takes less than a vertex each.
constexpr std::size_t kFewRuns = 3;

/// Words that a vertex copies on a tile.
struct WordCopy {
    const char* symbol = nullptr;
    Bytes word_bytes = 0;
    Place from;
    Place to;
    std::int64_t words = 0;
};

/// As many vertices as their loops take.
void add_words(Graph& graph, const spec::MachineSpec& machine, ComputeSetId set, TileId tile,
               const WordCopy& copy) {
    const std::int64_t workers = machine.tile.workers;
    const std::int64_t most = workers * isa::target_of(machine).repeat_count_mask();
    for (std::int64_t first = 0; first < copy.words; first += most) {
        const std::int64_t words = std::min(copy.words - first, most);
        const Bytes offset = first * copy.word_bytes;
        graph.add_vertex(set, tile, copy.symbol, program::VertexKind::MultiWorker,
                         {read(copy.from + offset, words * copy.word_bytes),
                          write(copy.to + offset, words * copy.word_bytes), word(words / workers),
                          word(words % workers)});
    }
}

class Copier {
public:
    Copier(Graph& graph, const spec::MachineSpec& machine, TensorId from, TensorId to,
           program::Role role, const std::string& owner, const std::string& verb)
        : graph_(graph), machine_(machine), from_(graph.tensors.at(from.index)),
          to_(graph.tensors.at(to.index)), role_(role), owner_(owner), verb_(verb),
          name_(verb + " " + to_.name), most_rounds_(isa::target_of(machine).repeat_count_mask()),
          most_words_(static_cast<std::size_t>(machine.tile.workers) * most_rounds_) {}

    Step run() {
        check();
        exchange_ = graph_.add_exchange({name_, role_, owner_});
        set_ = graph_.add_compute_set({name_ + ": in tiles", role_, owner_});
        auto words = moved_words();
        moves_ = std::move(words.moves);
        for (const Gather& gather : words.gathers) {
            fetch(gather);
        }
        add_moves(moves_);
        for (std::size_t i = 0; i < words.gathers.size(); ++i) {
            add_gather(words.gathers[i], starts_[i]);
        }
        add_messages();
        std::vector<Step> steps;
        if (!graph_.exchanges[exchange_.index].messages.empty()) {
            steps.push_back(graph::run(exchange_));
        }
        if (!graph_.compute_sets[set_.index].vertices.empty()) {
            steps.push_back(graph::run(set_));
        }
        return sequence(std::move(steps));
    }

private:
    Words moved_words() {
        auto matched = match(from_, to_, place_of_fault());
        zero_padding(std::move(matched.covered));
        return in_words(matched.atoms, matched.in_place, most_words_);
    }

    void check() const {
        if (from_.type != to_.type || from_.shape != to_.shape) {
            throw ProgramError(fmt::format("{}: got {} of {}, expected {} of {}", place_of_fault(),
                                           name_of(from_.type), fmt::join(from_.shape, " x "),
                                           name_of(to_.type), fmt::join(to_.shape, " x ")));
        }
        if (bytes_of(to_.type) < Bytes{kHalf}) {
            throw NotModelled(
                fmt::format("{}: not modelled: a copy of elements of one byte; see docs/kernels.md",
                            place_of_fault()));
        }
    }
    [[nodiscard]] std::string place_of_fault() const {
        return fmt::format("program '{}': kernel '{}', {} of '{}' to '{}'", graph_.name, owner_,
                           verb_, from_.name, to_.name);
    }

    /// Small gaps between elements, and memory behind the last one up to 8 bytes, are zero from the
    /// start.
    void zero_padding(std::vector<Atom> covered) {
        std::ranges::sort(covered, {}, &Atom::to);
        for (std::size_t i = 0; i < covered.size(); ++i) {
            const At end = covered[i].to + covered[i].bytes;
            const bool goes_on = i + 1 < covered.size() && covered[i + 1].to.tile == end.tile &&
                                 covered[i + 1].to.buffer == end.buffer;
            const std::uint32_t gap =
                goes_on ? covered[i + 1].to.offset - end.offset : end.offset % 8;
            if (graph_.buffers[end.buffer].padded || (gap > 0 && gap < kSmallGap)) {
                graph_.buffers[end.buffer].zeroed = true;
            }
        }
    }

    /// The words that a gather reads come into a temporary; from its own tile by a copy, from
    /// others by the exchange.
    void fetch(const Gather& gather) {
        if (!temporary_) {
            temporary_ = graph_.add_buffer({.name = name_ + ": words"});
        }
        auto& used = used_[gather.to.tile];
        const At start{gather.to.tile, temporary_->index, used.temporary};
        starts_.push_back(start);
        used.temporary += kWord * static_cast<std::uint32_t>(gather.needed.size() + 1);
        for (std::size_t i = 0; i < gather.needed.size();) {
            std::size_t end = i + 1;
            while (end < gather.needed.size() &&
                   gather.needed[end] == gather.needed[end - 1] + kWord) {
                ++end;
            }
            moves_.push_back({gather.needed[i], start + kWord * static_cast<std::uint32_t>(i + 1),
                              kWord * static_cast<std::uint32_t>(end - i)});
            i = end;
        }
    }
    /// What stays on its tile: long runs in a vertex each, many short ones of the same two buffers
    /// in one that reads a list of them.
    void add_moves(const std::vector<Atom>& moves) {
        std::map<std::tuple<TileId, std::uint32_t, std::uint32_t>, std::vector<Atom>> by_buffers;
        for (const Atom& move : moves) {
            if (move.from.tile == move.to.tile) {
                by_buffers[{move.to.tile, move.from.buffer, move.to.buffer}].push_back(move);
            }
        }
        for (const auto& [buffers, local] : by_buffers) {
            if (local.size() >= kFewRuns && !from_.known &&
                std::get<1>(buffers) != std::get<2>(buffers)) {
                add_run_list(local);
            } else {
                std::for_each(local.begin(), local.end(),
                              [&](const Atom& move) { add_move(move); });
            }
        }
    }
    [[nodiscard]] static bool is_wide(const Atom& move) {
        return move.bytes % 8 == 0 && move.from.offset % 8 == 0 && move.to.offset % 8 == 0;
    }

    /// Main registers, not aux ones, carry what timing mode knows.
    void add_move(const Atom& move) {
        if (from_.known) {
            graph_.need_codelet("copy_known");
            add_words(graph_, machine_, set_, move.to.tile,
                      {"copy_known32", kWord, place_of(move.from), place_of(move.to),
                       move.bytes / kWord});
            return;
        }
        const bool wide = is_wide(move);
        const Bytes word_bytes = wide ? 8 : 4;
        graph_.need_codelet("copy");
        add_words(graph_, machine_, set_, move.to.tile,
                  {wide ? "copy64" : "copy32", word_bytes, place_of(move.from), place_of(move.to),
                   move.bytes / word_bytes});
    }

    void add_run_list(const std::vector<Atom>& moves) {
        const bool wide = std::all_of(moves.begin(), moves.end(), is_wide);
        const std::uint32_t word_bytes = wide ? 8 : kWord;
        const auto most = static_cast<std::uint32_t>(most_rounds_) * word_bytes;
        const At from{moves[0].from.tile, moves[0].from.buffer, 0};
        const At to{moves[0].to.tile, moves[0].to.buffer, 0};
        std::vector<std::uint32_t> list;
        std::vector<Field> uses;
        for (const Atom& move : moves) {
            for (std::uint32_t done = 0; done < move.bytes; done += most) {
                const std::uint32_t bytes = std::min(move.bytes - done, most);
                list.insert(list.end(),
                            {move.from.offset + done, move.to.offset + done, bytes / word_bytes});
            }
            uses.push_back(use(place_of(move.from), move.bytes, Access::Read));
            uses.push_back(use(place_of(move.to), move.bytes, Access::Write));
        }
        const auto bytes = static_cast<Bytes>(list.size()) * kWord;
        std::vector<Field> fields{
            pointer(place_of(from), 0, Access::Read), pointer(place_of(to), 0, Access::Read),
            read(add_list(to.tile, list), bytes), word(static_cast<std::int64_t>(list.size() / 3))};
        fields.insert(fields.end(), uses.begin(), uses.end());
        graph_.need_codelet("copy_runs");
        graph_.add_vertex(set_, to.tile, wide ? "copy_runs64" : "copy_runs32",
                          program::VertexKind::MultiWorker, fields);
    }

    /// Words that a vertex of the tile reads as a list.
    Place add_list(TileId tile, const std::vector<std::uint32_t>& list) {
        if (!lists_) {
            lists_ = graph_.add_buffer(
                {.name = name_ + ": list", .kind = program::SegmentKind::Metadata});
        }
        auto& words = list_words_[tile];
        const Place place{*lists_, static_cast<Bytes>(words.size()) * kWord};
        words.insert(words.end(), list.begin(), list.end());
        return place;
    }

    /// `start`: of its temporary.
    void add_gather(const Gather& gather, const At& start) {
        const std::int64_t workers = machine_.tile.workers;
        const auto words = static_cast<std::int64_t>(gather.list.size());
        if (gather.needs_zero) {
            if (!zero_) {
                zero_ = graph_.add_buffer(
                    {.name = name_ + ": zero", .kind = program::SegmentKind::Metadata});
            }
            if (!used_[start.tile].zero) {
                used_[start.tile].zero = true;
                graph_.hold(*zero_, start.tile,
                            std::make_shared<const std::vector<std::byte>>(kWord));
            }
            graph_.add_vertex(
                set_, start.tile, "copy32", program::VertexKind::MultiWorker,
                {read({*zero_}, kWord), write(place_of(start), kWord), word(0), word(1)});
            graph_.need_codelet("copy");
        }
        const Bytes skipped = gather.needs_zero ? 0 : kWord;
        const Place list = add_list(start.tile, gather.list);
        graph_.need_codelet("gather");
        graph_.add_vertex(
            set_, start.tile, "gather16", program::VertexKind::MultiWorker,
            {pointer(place_of(start), 0, Access::Read), write(place_of(gather.to), words * kWord),
             read(list, words * kWord), word(words / workers), word(words % workers),
             use(place_of(start) + skipped,
                 Bytes{kWord} * static_cast<Bytes>(gather.needed.size() + 1) - skipped,
                 Access::Read)});
    }

    /// Words that several tiles want travel once. The k-th messages of all tiles come before any of
    /// their next ones.
    void add_messages() {
        std::vector<Atom> travelling;
        for (const Atom& move : moves_) {
            if (move.from.tile != move.to.tile) {
                travelling.push_back(move);
                keep_apart(move);
            }
        }
        std::sort(travelling.begin(), travelling.end(), [](const Atom& left, const Atom& right) {
            return std::tie(left.from, left.bytes, left.to) <
                   std::tie(right.from, right.bytes, right.to);
        });
        struct Sent {
            std::size_t turn = 0;
            std::size_t first = 0;
            std::size_t count = 0;
        };
        std::vector<Sent> sent;
        for (std::size_t i = 0; i < travelling.size();) {
            std::size_t end = i + 1;
            while (end < travelling.size() && travelling[end].from == travelling[i].from &&
                   travelling[end].bytes == travelling[i].bytes &&
                   travelling[end].to.tile != travelling[end - 1].to.tile) {
                ++end;
            }
            const bool same_tile =
                !sent.empty() && travelling[sent.back().first].from.tile == travelling[i].from.tile;
            sent.push_back({same_tile ? sent.back().turn + 1 : 0, i, end - i});
            i = end;
        }
        std::ranges::stable_sort(sent, {}, &Sent::turn);
        std::vector<Receiver> receivers;
        for (const Sent& message : sent) {
            receivers.clear();
            for (std::size_t i = message.first; i < message.first + message.count; ++i) {
                receivers.push_back({travelling[i].to.tile, place_of(travelling[i].to)});
            }
            const Atom& first = travelling[message.first];
            graph_.add_message(exchange_, first.from.tile, place_of(first.from), first.bytes,
                               receivers);
        }
        for (const auto& [tile, used] : used_) {
            graph_.hold(*temporary_, tile, Bytes{used.temporary});
        }
        for (const auto& [tile, words] : list_words_) {
            const auto bytes = std::as_bytes(std::span(words));
            graph_.hold(*lists_, tile,
                        std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()));
        }
    }
    /// A tile sends and receives at once.
    void keep_apart(const Atom& move) {
        auto& apart = graph_.buffers[move.to.buffer].apart;
        const BufferId other{move.from.buffer};
        if (move.from.buffer != move.to.buffer &&
            std::find(apart.begin(), apart.end(), other) == apart.end()) {
            apart.push_back(other);
        }
    }
    /// What the copy has taken of a tile.
    struct Used {
        std::uint32_t temporary = 0;
        bool zero = false;
    };

    Graph& graph_;
    const spec::MachineSpec& machine_;
    const Tensor& from_;
    const Tensor& to_;
    program::Role role_;
    std::string owner_;
    std::string verb_;
    std::string name_;
    std::size_t most_rounds_; ///< of a loop
    std::size_t most_words_;  ///< that a vertex makes, all workers together
    ExchangeId exchange_;
    ComputeSetId set_;
    std::vector<Atom> moves_; ///< whole words
    std::vector<At> starts_;  ///< by gather
    std::map<TileId, Used> used_;
    std::map<TileId, std::vector<std::uint32_t>> list_words_;
    std::optional<BufferId> temporary_;
    std::optional<BufferId> lists_;
    std::optional<BufferId> zero_;
};

} // namespace

Step add_copy(Graph& graph, const spec::MachineSpec& machine, TensorId from, TensorId to,
              program::Role role, const std::string& owner, const std::string& verb) {
    graph.tensors.at(to.index).known = graph.tensors.at(from.index).known;
    return Copier(graph, machine, from, to, role, owner, verb).run();
}

void copy_on_tile(Graph& graph, const spec::MachineSpec& machine, ComputeSetId set, TileId tile,
                  Place from, Place to, Bytes bytes) {
    add_words(graph, machine, set, tile, {"copy64", 8, from, to, bytes / 8});
}

} // namespace tessera::graph

// SPDX-License-Identifier: MIT
#include "kernels/graph/copy.h"

#include "base/bytes.h"
#include "base/error.h"
#include "kernels/graph/copy_gathers.h"
#include "kernels/graph/turned.h"
#include "models/isa/machine_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

void check_alike(const Tensor& from, const Tensor& to, const std::string& fault) {
    if (from.type != to.type || from.shape != to.shape) {
        throw ProgramError(fmt::format("{}: got {} of {}, expected {} of {}", fault,
                                       name_of(from.type), fmt::join(from.shape, " x "),
                                       name_of(to.type), fmt::join(to.shape, " x ")));
    }
}

/// Small gaps between elements, and memory behind the last one up to 8 bytes, are zero from the
/// start.
void zero_padding(Graph& graph, std::vector<Atom> covered) {
    std::erase_if(covered, [&](const Atom& atom) { return graph.buffers[atom.to.buffer].zeroed; });
    AtomOrder().sort(covered, &Atom::to);
    for (std::size_t i = 0; i < covered.size(); ++i) {
        const At end = covered[i].to + covered[i].bytes;
        const bool goes_on = i + 1 < covered.size() && covered[i + 1].to.tile == end.tile &&
                             covered[i + 1].to.buffer == end.buffer;
        const std::uint32_t gap = goes_on ? covered[i + 1].to.offset - end.offset : end.offset % 8;
        if (graph.buffers[end.buffer].padded || (gap > 0 && gap < kSmallGap)) {
            graph.buffers[end.buffer].zeroed = true;
        }
    }
}

/// Adds messages and vertices that move bytes to a step of each kind.
class Copier {
public:
    Copier(Graph& graph, const spec::MachineSpec& machine, const std::string& name,
           ExchangeId exchange, ComputeSetId set)
        : graph_(graph), machine_(machine), name_(name),
          most_rounds_(isa::target_of(machine).repeat_count_mask()),
          most_words_(static_cast<std::size_t>(machine.tile.workers) * most_rounds_),
          exchange_(exchange), set_(set) {}

    /// What is beside the elements stays as it is.
    Copier& without_padding() {
        writes_padding_ = false;
        return *this;
    }

    void copy(TensorId from, TensorId to, const std::string& fault) {
        is_known_ = graph_.tensors.at(from.index).known;
        part_ = static_cast<std::uint32_t>(
            std::min<Bytes>(2, bytes_of(graph_.tensors.at(to.index).type)));
        Words all;
        match(graph_.tensors.at(from.index), graph_.tensors.at(to.index), fault,
              [&](Matched& matched) {
                  if (writes_padding_) {
                      zero_padding(graph_, std::move(matched.covered));
                  }
                  Words words = in_words(matched.atoms, matched.in_place, most_words_, part_);
                  all.moves.insert(all.moves.end(), words.moves.begin(), words.moves.end());
                  std::ranges::move(words.gathers, std::back_inserter(all.gathers));
              });
        std::ranges::stable_sort(all.moves, {}, [](const Atom& move) {
            return std::pair(move.from.tile, move.to.tile);
        });
        add(std::move(all));
    }
    /// Whole words that stay on their tile.
    void copy_on_tiles(const std::vector<Atom>& atoms) { add(in_words(atoms, {}, most_words_)); }

private:
    void add(Words words) {
        moves_ = std::move(words.moves);
        for (const Gather& gather : words.gathers) {
            fetch(gather);
        }
        add_moves(moves_);
        for (std::size_t i = 0; i < words.gathers.size(); ++i) {
            add_gather(words.gathers[i], starts_[i]);
        }
        add_messages();
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
        used.temporary += kWord * (gather.needed_words + 1);
        std::uint32_t words = 1; // the first one is zero
        for (const WordRun& run : gather.needed) {
            moves_.push_back({run.first, start + kWord * words, kWord * run.words});
            words += run.words;
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
            if (local.size() >= kFewRuns && !is_known_ &&
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
        if (is_known_) {
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
        graph_.need_codelet(part_ == 1 ? "gather_bytes" : "gather");
        graph_.add_vertex(
            set_, start.tile, part_ == 1 ? "gather8" : "gather16", program::VertexKind::MultiWorker,
            {pointer(place_of(start), 0, Access::Read),
             write(place_of(gather.to), gather.words * kWord),
             read(list, static_cast<Bytes>(gather.list.size()) * kWord),
             word(gather.words / workers), word(gather.words % workers),
             use(place_of(start) + skipped,
                 Bytes{kWord} * (gather.needed_words + Bytes{1}) - skipped, Access::Read)});
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
            graph_.hold(*lists_, tile, shared_bytes(words));
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
    std::string name_;
    bool writes_padding_ = true;
    std::uint32_t part_ = 2;  ///< bytes of what words are put together of
    bool is_known_ = false;   ///< what is copied
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

/// Calls turn.S: a vertex for the squares of a tile that have their rows in the same patterns, of up to two buffers.
class TurnVertices {
public:
    TurnVertices(Graph& graph, ComputeSetId set, const std::string& name)
        : graph_(graph), set_(set),
          lists_(
              graph.add_buffer({.name = name + ": list", .kind = program::SegmentKind::Metadata})) {
        graph.need_codelet("turn");
    }

    /// All of them, by tile.
    void add(const std::vector<Square>& all) {
        for (auto first = all.begin(); first != all.end();) {
            const TileId tile = first->from.tile;
            const auto last = std::find_if(
                first, all.end(), [&](const Square& one) { return one.from.tile != tile; });
            std::map<std::tuple<std::uint32_t, RowBytes, RowBytes>, std::vector<const Square*>>
                alike;
            for (auto one = first; one != last; ++one) {
                alike[{one->to.buffer, bytes_of(one->from_rows), bytes_of(one->to_rows)}].push_back(
                    &*one);
            }
            std::vector<std::uint32_t> words;
            for (auto& [key, some] : alike) {
                std::ranges::stable_sort(some, {},
                                         [](const Square* square) { return square->from.buffer; });
                for (auto one = some.begin(); one != some.end();) {
                    const auto others = end_of_buffer(one, some.end());
                    const auto end = end_of_buffer(others, some.end());
                    add_vertex({one, others}, {others, end}, words);
                    one = end;
                }
            }
            graph_.hold(lists_, tile, shared_bytes(words));
            first = last;
        }
    }

private:
    using RowBytes = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    using Squares = std::span<const Square* const>;
    static RowBytes bytes_of(const RowPattern& rows) { return {rows.one, rows.two, rows.four}; }

    template <class Iterator> static Iterator end_of_buffer(Iterator one, Iterator end) {
        return std::find_if(one, end, [&](const Square* square) {
            return square->from.buffer != (*one)->from.buffer;
        });
    }

    /// `words`: of the tile's list so far.
    void add_vertex(Squares own, Squares others, std::vector<std::uint32_t>& words) {
        constexpr std::int64_t kFours = 4; // of rows, and of columns
        const Square& model = *own.front();
        const Place list{lists_, static_cast<Bytes>(words.size()) * kWord};
        std::vector<Field> uses;
        for (const Squares some : {own, others}) {
            for (const Square* square : some) {
                add_lines(*square, words, uses);
            }
        }
        const auto lines = [&](Squares some) {
            return word(static_cast<std::int64_t>(some.size()) * kFours);
        };
        const std::uint32_t other =
            others.empty() ? model.from.buffer : others.front()->from.buffer;
        const Bytes list_bytes = static_cast<Bytes>(words.size()) * kWord - list.offset;
        std::vector<Field> state{pointer({BufferId{model.from.buffer}}, 0, Access::Read),
                                 pointer({BufferId{model.to.buffer}}, 0, Access::Read),
                                 read(list, list_bytes),
                                 lines(own),
                                 word(model.from_rows.two),
                                 word(model.to_rows.one),
                                 word(model.to_rows.two),
                                 word(model.to_rows.four / 8),
                                 pointer({BufferId{other}}, 0, Access::Read),
                                 lines(others)};
        state.insert(state.end(), uses.begin(), uses.end());
        graph_.add_vertex(set_, model.from.tile, "turn_f16", program::VertexKind::MultiWorker,
                          state);
    }
    static void add_lines(const Square& square, std::vector<std::uint32_t>& words,
                          std::vector<Field>& uses) {
        constexpr Bytes kRow = 32;
        constexpr std::uint32_t kFours = 4;
        uses.push_back(use(place_of(square.from), kRow * 4 * kFours, Access::Read));
        const RowPattern& rows = square.to_rows;
        for (std::uint32_t four = 0; four < kFours; ++four) {
            words.push_back(square.from.offset + four * square.from_rows.four);
            words.push_back(square.to.offset + four * 8);
            for (const std::uint32_t row : {0U, rows.one, rows.two, rows.one + rows.two}) {
                uses.push_back(
                    use(place_of(square.to) + four * rows.four + row, kRow, Access::Write));
            }
        }
    }

    Graph& graph_;
    ComputeSetId set_;
    BufferId lists_;
};

} // namespace

Step add_copy(Graph& graph, const spec::MachineSpec& machine, TensorId from, TensorId to,
              program::Role role, const std::string& owner, const std::string& verb) {
    graph.tensors.at(to.index).known = graph.tensors.at(from.index).known;
    const std::string name = verb + " " + graph.tensors.at(to.index).name;
    const std::string fault =
        fmt::format("program '{}': kernel '{}', {} of '{}' to '{}'", graph.name, owner, verb,
                    graph.tensors.at(from.index).name, graph.tensors.at(to.index).name);
    check_alike(graph.tensors.at(from.index), graph.tensors.at(to.index), fault);
    const auto exchange = graph.add_exchange({name, role, owner});
    const auto set = graph.add_compute_set({name + ": in tiles", role, owner});
    auto turned = turn_squares(graph, from, to, name);
    if (!turned) {
        Copier(graph, machine, name, exchange, set).copy(from, to, fault);
    } else {
        zero_padding(graph, std::move(turned->covered));
        if (!turned->arrives.pieces.empty()) {
            const TensorId arrives = graph.add_tensor(std::move(turned->arrives));
            Copier(graph, machine, name, exchange, set)
                .without_padding()
                .copy(from, arrives, fault);
            graph.tensors.pop_back();
        }
        TurnVertices(graph, set, name + ": turned").add(turned->squares);
        Copier(graph, machine, name, exchange, set).copy_on_tiles(turned->rows);
    }
    std::vector<Step> steps;
    if (!graph.exchanges[exchange.index].messages.empty()) {
        steps.push_back(graph::run(exchange));
    }
    if (!graph.compute_sets[set.index].vertices.empty()) {
        steps.push_back(graph::run(set));
    }
    return sequence(std::move(steps));
}

void copy_on_tile(Graph& graph, const spec::MachineSpec& machine, ComputeSetId set, TileId tile,
                  Place from, Place to, Bytes bytes) {
    add_words(graph, machine, set, tile, {"copy64", 8, from, to, bytes / 8});
}

bool Bringing::add(TileId tile, Place from, Bytes bytes, std::span<const Receiver> to,
                   bool paired) {
    const auto own = std::ranges::find(to, tile, &Receiver::tile);
    if (own == to.end()) {
        graph.add_message(exchange, tile, from, bytes, to, paired);
        return false;
    }
    copy_on_tile(graph, machine, copies, tile, from, own->to, bytes);
    copied_words[tile].push_back(bytes / 8);
    std::vector<Receiver> others(to.begin(), own);
    others.insert(others.end(), own + 1, to.end());
    graph.add_message(exchange, tile, from, bytes, others, paired);
    return true;
}

} // namespace tessera::graph

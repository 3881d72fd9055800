// SPDX-License-Identifier: MIT
#include "kernels/graph/copy.h"

#include "base/error.h"
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

constexpr std::uint32_t kWord = 4;
constexpr std::uint32_t kHalf = 2;
/// Words that a gather vertex makes at most: their elements lie within what its indices of 16 bits
/// reach.
constexpr std::size_t kMostGathered = 16'000;
/// Padding up to this many bytes between elements is written as zeros rather than left out.
constexpr std::uint32_t kSmallGap = 64;
/// From so many local runs on, one vertex with a list of them takes less than a vertex each.
constexpr std::size_t kFewRuns = 3;
constexpr std::uint32_t kZeroIndex = 0; ///< a gather's temporary begins with a word of zeros

struct At {
    TileId tile = 0;
    std::uint32_t buffer = 0;
    std::uint32_t offset = 0;

    [[nodiscard]] At operator+(std::uint32_t bytes) const { return {tile, buffer, offset + bytes}; }
    friend auto operator<=>(const At&, const At&) = default;
};
Place place_of(const At& at) {
    return {BufferId{at.buffer}, Bytes{at.offset}};
}

/// Neighbouring elements that are neighbours in a tile too.
struct Run {
    std::int64_t host = 0;
    std::int64_t elements = 0;
    At at;
};

/// Bytes that go from one place to another.
struct Atom {
    At from;
    At to;
    std::uint32_t bytes = 0;
};

class Runs {
public:
    Runs(const Tensor& tensor, bool each_once) : bytes_(bytes_of(tensor.type)) {
        for (const Piece& piece : tensor.pieces) {
            add(piece, 0, piece.host_offset, static_cast<std::uint32_t>(piece.place.offset));
        }
        std::sort(all_.begin(), all_.end(), [](const Run& left, const Run& right) {
            return std::tie(left.host, left.at) < std::tie(right.host, right.at);
        });
        join(each_once);
    }
    [[nodiscard]] const std::vector<Run>& all() const { return all_; }

private:
    void add(const Piece& piece, std::size_t dim, std::int64_t host, std::uint32_t offset) {
        const At at{piece.tile, piece.place.buffer.index, offset};
        if (dim == piece.dims.size()) {
            all_.push_back({host, 1, at});
            return;
        }
        const program::PieceDim& here = piece.dims[dim];
        if (dim + 1 == piece.dims.size() && here.host_stride == 1 && here.tile_stride == bytes_) {
            all_.push_back({host, here.count, at});
            return;
        }
        for (std::int64_t i = 0; i < here.count; ++i) {
            add(piece, dim + 1, host + i * here.host_stride,
                offset + static_cast<std::uint32_t>(i * here.tile_stride));
        }
    }
    /// Runs that go on in the next one become one; of `each_once`, elements that a run before has
    /// go.
    void join(bool each_once) {
        std::vector<Run> joined;
        for (Run run : all_) {
            if (each_once && !joined.empty()) {
                const std::int64_t known = joined.back().host + joined.back().elements;
                const std::int64_t skipped =
                    std::clamp<std::int64_t>(known - run.host, 0, run.elements);
                run.host += skipped;
                run.elements -= skipped;
                run.at.offset += static_cast<std::uint32_t>(skipped * bytes_);
            }
            if (run.elements == 0) {
                continue;
            }
            if (!joined.empty()) {
                Run& last = joined.back();
                if (last.host + last.elements == run.host &&
                    last.at + static_cast<std::uint32_t>(last.elements * bytes_) == run.at) {
                    last.elements += run.elements;
                    continue;
                }
            }
            joined.push_back(run);
        }
        all_ = std::move(joined);
    }

    Bytes bytes_;
    std::vector<Run> all_;
};

/// What a tile has to fetch so that a codelet can put elements where they belong.
struct Gather {
    At to;                                  ///< first word that is written
    std::vector<std::optional<At>> sources; ///< of each half that is written; nothing: a zero
    At start;                               ///< of its temporary, which begins with a word of zeros
    std::vector<std::uint32_t> list;        ///< two indices of elements a word
    std::vector<At> needed;  ///< words, ascending; their place in the temporary follows
    bool needs_zero = false; ///< some half holds no element
};

class Copier {
public:
    Copier(Graph& graph, const spec::MachineSpec& machine, TensorId from, TensorId to,
           program::Role role, const std::string& owner, const std::string& verb)
        : graph_(graph), machine_(machine), from_(graph.tensors.at(from.index)),
          to_(graph.tensors.at(to.index)), role_(role), owner_(owner), verb_(verb),
          name_(verb + " " + to_.name), most_rounds_(isa::target_of(machine).repeat_count_mask()),
          most_words_(static_cast<std::size_t>(machine.tile.workers) * most_rounds_) {}

    program::Step run() {
        check();
        match();
        zero_padding();
        split();
        exchange_ = graph_.add_exchange({name_, role_, owner_});
        set_ = graph_.add_compute_set({name_ + ": in tiles", role_, owner_});
        join_moves();
        find_gathers();
        for (Gather& gather : gathers_) {
            fill(gather);
        }
        add_moves(moves_);
        for (const Gather& gather : gathers_) {
            add_gather(gather);
        }
        add_messages();
        std::vector<program::Step> steps;
        if (!graph_.exchanges[exchange_.index].messages.empty()) {
            steps.push_back(graph::run(exchange_));
        }
        if (!graph_.compute_sets[set_.index].vertices.empty()) {
            steps.push_back(graph::run(set_));
        }
        return sequence(std::move(steps));
    }

private:
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

    /// Which bytes go from where to where.
    void match() {
        const Runs from(from_, true);
        const Runs to(to_, false);
        const auto bytes = bytes_of(to_.type);
        for (const Run& wanted : to.all()) {
            std::int64_t at = wanted.host;
            const std::int64_t end = wanted.host + wanted.elements;
            auto source =
                std::partition_point(from.all().begin(), from.all().end(),
                                     [&](const Run& run) { return run.host + run.elements <= at; });
            for (; at < end; ++source) {
                if (source == from.all().end() || source->host > at) {
                    throw ProgramError(fmt::format("{}: element {} of '{}' stands on no tile",
                                                   place_of_fault(), at, from_.name));
                }
                const std::int64_t elements = std::min(source->host + source->elements, end) - at;
                const Atom atom{source->at +
                                    static_cast<std::uint32_t>((at - source->host) * bytes),
                                wanted.at + static_cast<std::uint32_t>((at - wanted.host) * bytes),
                                static_cast<std::uint32_t>(elements * bytes)};
                (atom.from == atom.to ? in_place_ : atoms_).push_back(atom);
                covered_.push_back({atom.to, atom.to, atom.bytes});
                at += elements;
            }
        }
    }

    /// Small gaps between elements, and memory behind the last one up to 8 bytes, are zero from the
    /// start.
    void zero_padding() {
        std::ranges::sort(covered_, {}, &Atom::to);
        for (std::size_t i = 0; i < covered_.size(); ++i) {
            const At end = covered_[i].to + covered_[i].bytes;
            const bool goes_on = i + 1 < covered_.size() && covered_[i + 1].to.tile == end.tile &&
                                 covered_[i + 1].to.buffer == end.buffer;
            const std::uint32_t gap =
                goes_on ? covered_[i + 1].to.offset - end.offset : end.offset % 8;
            if (graph_.buffers[end.buffer].padded || (gap > 0 && gap < kSmallGap)) {
                graph_.buffers[end.buffer].zeroed = true;
            }
        }
        covered_ = {};
    }

    /// Whole words, and halves of words.
    void split() {
        for (Atom atom : atoms_) {
            if (atom.from.offset % kWord != atom.to.offset % kWord) {
                add_halves(atom);
                continue;
            }
            if (atom.to.offset % kWord != 0) {
                add_halves({atom.from, atom.to, kHalf});
                atom = {atom.from + kHalf, atom.to + kHalf, atom.bytes - kHalf};
            }
            const std::uint32_t whole = atom.bytes / kWord * kWord;
            if (whole != 0) {
                moves_.push_back({atom.from, atom.to, whole});
            }
            add_halves({atom.from + whole, atom.to + whole, atom.bytes - whole});
        }
        atoms_ = {};
    }
    void add_halves(const Atom& atom) {
        for (std::uint32_t at = 0; at < atom.bytes; at += kHalf) {
            halves_.push_back({atom.from + at, atom.to + at, kHalf});
        }
    }

    /// Moves that go on in the next one become one.
    void join_moves() {
        std::sort(moves_.begin(), moves_.end(), [](const Atom& left, const Atom& right) {
            return std::tie(left.from.tile, left.to.tile, left.from, left.to) <
                   std::tie(right.from.tile, right.to.tile, right.from, right.to);
        });
        std::vector<Atom> joined;
        for (const Atom& move : moves_) {
            if (!joined.empty() && joined.back().from + joined.back().bytes == move.from &&
                joined.back().to + joined.back().bytes == move.to) {
                joined.back().bytes += move.bytes;
            } else {
                joined.push_back(move);
            }
        }
        moves_ = std::move(joined);
    }

    /// A word made of halves takes a codelet. So do then the words around it, as far as gaps are
    /// small: one vertex makes them all.
    void find_gathers() {
        std::ranges::sort(halves_, {}, &Atom::to);
        std::map<std::pair<TileId, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> hulls;
        for (const Atom& half : halves_) {
            const auto [hull, added] = hulls.emplace(std::pair{half.to.tile, half.to.buffer},
                                                     std::pair{half.to.offset, half.to.offset});
            hull->second.second = half.to.offset + kHalf;
        }
        std::vector<Atom> kept;
        for (const Atom& move : moves_) {
            const auto hull = hulls.find({move.to.tile, move.to.buffer});
            if (hull == hulls.end() || move.to.offset + move.bytes <= hull->second.first ||
                move.to.offset >= hull->second.second) {
                kept.push_back(move);
            } else {
                add_halves(move);
            }
        }
        moves_ = std::move(kept);
        for (const Atom& there : in_place_) { // would be lost as gaps
            if (hulls.contains({there.to.tile, there.to.buffer})) {
                add_halves(there);
            }
        }
        std::ranges::sort(halves_, {}, &Atom::to);
        for (const Atom& half : halves_) {
            const At word{half.to.tile, half.to.buffer, half.to.offset / kWord * kWord};
            if (gathers_.empty() || !goes_on(gathers_.back(), word)) {
                gathers_.push_back(
                    {.to = word, .sources = {}, .start = {}, .list = {}, .needed = {}});
            }
            Gather& gather = gathers_.back();
            const std::size_t index = (half.to.offset - gather.to.offset) / kHalf;
            gather.sources.resize((index / 2 + 1) * 2);
            gather.sources[index] = half.from;
        }
    }
    [[nodiscard]] bool goes_on(const Gather& gather, const At& word) const {
        const auto end =
            gather.to.offset + static_cast<std::uint32_t>(gather.sources.size()) * kHalf;
        const std::size_t words = (word.offset - gather.to.offset) / kWord;
        return gather.to.tile == word.tile && gather.to.buffer == word.buffer &&
               word.offset <= end + kSmallGap && words < std::min(kMostGathered, most_words_);
    }

    /// The words that a gather reads come into a temporary; from its own tile by a copy, from
    /// others by the exchange.
    void fill(Gather& gather) {
        const auto& sources = gather.sources;
        for (const auto& source : sources) {
            gather.needs_zero = gather.needs_zero || !source;
            if (source) {
                gather.needed.push_back(
                    {source->tile, source->buffer, source->offset / kWord * kWord});
            }
        }
        std::sort(gather.needed.begin(), gather.needed.end());
        gather.needed.erase(std::unique(gather.needed.begin(), gather.needed.end()),
                            gather.needed.end());
        for (std::size_t i = 0; i < sources.size(); i += 2) {
            gather.list.push_back(index_of(gather, sources[i]) | index_of(gather, sources[i + 1])
                                                                     << 16U);
        }
        if (!temporary_) {
            temporary_ = graph_.add_buffer({.name = name_ + ": words"});
        }
        auto& used = used_[gather.to.tile];
        gather.start = {gather.to.tile, temporary_->index, used.temporary};
        used.temporary += kWord * static_cast<std::uint32_t>(gather.needed.size() + 1);
        for (std::size_t i = 0; i < gather.needed.size();) {
            std::size_t end = i + 1;
            while (end < gather.needed.size() &&
                   gather.needed[end] == gather.needed[end - 1] + kWord) {
                ++end;
            }
            moves_.push_back({gather.needed[i],
                              gather.start + kWord * static_cast<std::uint32_t>(i + 1),
                              kWord * static_cast<std::uint32_t>(end - i)});
            i = end;
        }
    }
    [[nodiscard]] static std::uint32_t index_of(const Gather& gather,
                                                const std::optional<At>& source) {
        if (!source) {
            return kZeroIndex;
        }
        const At word{source->tile, source->buffer, source->offset / kWord * kWord};
        const auto at = std::lower_bound(gather.needed.begin(), gather.needed.end(), word);
        const auto before = static_cast<std::uint32_t>(std::distance(gather.needed.begin(), at));
        return 2 * (before + 1) + (source->offset % kWord) / kHalf;
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
            if (local.size() >= kFewRuns && std::get<1>(buffers) != std::get<2>(buffers)) {
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

    void add_move(const Atom& move) {
        const std::int64_t workers = machine_.tile.workers;
        const auto most = static_cast<std::int64_t>(most_words_);
        const std::int64_t word_bytes = is_wide(move) ? 8 : 4;
        const std::int64_t all = move.bytes / word_bytes;
        graph_.need_codelet("copy");
        for (std::int64_t first = 0; first < all; first += most) {
            const std::int64_t words = std::min(all - first, most);
            const Bytes offset = first * word_bytes;
            graph_.add_vertex(set_, move.to.tile, is_wide(move) ? "copy64" : "copy32",
                              program::VertexKind::MultiWorker,
                              {read(place_of(move.from) + offset, words * word_bytes),
                               write(place_of(move.to) + offset, words * word_bytes),
                               word(words / workers), word(words % workers)});
        }
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

    void add_gather(const Gather& gather) {
        const At start = gather.start;
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
    std::vector<Atom> atoms_;
    std::vector<Atom> in_place_; ///< elements that stand where they shall
    std::vector<Atom> covered_;  ///< elements of `to`
    std::vector<Atom> moves_;    ///< whole words
    std::vector<Atom> halves_;
    std::vector<Gather> gathers_;
    std::map<TileId, Used> used_;
    std::map<TileId, std::vector<std::uint32_t>> list_words_;
    std::optional<BufferId> temporary_;
    std::optional<BufferId> lists_;
    std::optional<BufferId> zero_;
};

} // namespace

program::Step add_copy(Graph& graph, const spec::MachineSpec& machine, TensorId from, TensorId to,
                       program::Role role, const std::string& owner, const std::string& verb) {
    return Copier(graph, machine, from, to, role, owner, verb).run();
}

} // namespace tessera::graph

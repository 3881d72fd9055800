// SPDX-License-Identifier: MIT
// a = b + s c over arrays in streaming memory: rows come to IO tiles, an exchange hands them to the
// other tiles, which compute, and back.
//
//   remote b, c --stream--> IO tiles, `prefetch` row buffers --exchange--> tiles: a = b + s c
//   remote a   <--stream--  IO tiles, as many row buffers    <--exchange--
//
// A row is what one round computes: `chunk_elements` on every computing tile. With prefetch 0 every
// copy is waited for where it begins.
#include "base/float16.h"
#include "kernels/micro/limits.h"
#include "kernels/micro/micro.h"
#include "kernels/micro/stream_steps.h"
#include "kernels/plan/repeat_limit.h"
#include "models/program/remote_sizes.h"
#include "models/spec/machine_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tessera::micro {
namespace {

using graph::Step;
using Kind = Step::Kind;

enum Array : std::size_t { kB, kC, kA, kArrays };
constexpr const char* kOwner = "streamed_triad";
constexpr std::array<const char*, kArrays> kNames{"b", "c", "a"};
constexpr int kScale = 3;
constexpr Bytes kWordBytes = 8; ///< of the codelet

class TriadGraph {
public:
    TriadGraph(const spec::MachineSpec& machine, const workload::StreamedTriadWorkload& workload)
        : machine_(machine), workload_(workload),
          io_tiles_(checked_io_tiles(machine, workload.io_tiles)),
          tiles_(machine.chip.tiles - io_tiles_),
          element_bytes_(workload.dtype == ElementType::F16 ? 2 : 4),
          slice_bytes_(workload.chunk_elements * element_bytes_),
          rounds_((workload.elements + row_elements() - 1) / row_elements()),
          slots_(std::clamp<std::int64_t>(workload.prefetch, 1, rounds_)) {
        if (rounds_ > workload::kMostCopies) {
            throw wrong_value("elements",
                              fmt::format("got {} elements, which are {} rounds of {}, expected at "
                                          "most {} rounds (larger chunk_elements make fewer)",
                                          workload.elements, rounds_, row_elements(),
                                          workload::kMostCopies));
        }
        if (workload_.repeats > workload::kMostRounds / rounds_) {
            throw wrong_value("repeats",
                              fmt::format("got {} times in each of {} rounds, expected at most {} "
                                          "in all",
                                          workload_.repeats, rounds_, workload::kMostRounds));
        }
    }

    [[nodiscard]] Emitted emit() const {
        const std::string sentence = fmt::format(
            "streamed triad, {} {} elements, {} IO tiles, prefetch {}, computed {} times",
            workload_.elements, element_bytes_ == 2 ? "f16" : "f32", io_tiles_, workload_.prefetch,
            workload_.repeats);
        graph::Graph graph = this->graph(sentence);
        const auto sizes = program::remote_sizes(graph.remote_buffers,
                                                 machine_.streaming.capacity_bytes, machine_.name);
        need_memory_of_buffers(sizes, sentence);
        Emitted emitted{std::move(graph), [*this] { return values(); }};
        emitted.useful_bytes = kArrays * workload_.elements * element_bytes_;
        emitted.choices = {{"tiles", tiles_},
                           {"rounds", rounds_},
                           {"row_bytes", tiles_ * slice_bytes_},
                           {"row_buffers", slots_}};
        return emitted;
    }

private:
    static std::int64_t checked_io_tiles(const spec::MachineSpec& machine, std::int64_t io_tiles) {
        const std::int64_t most = machine.chip.tiles / 2;
        if (io_tiles > most) {
            throw wrong_value(
                "io_tiles",
                fmt::format("got {} IO tiles, expected {} on machine '{}' with its {} tiles "
                            "(chip.tiles): each serves another that computes",
                            io_tiles, most == 0 ? "none" : fmt::format("1..{}", most), machine.name,
                            machine.chip.tiles));
        }
        return io_tiles;
    }

    [[nodiscard]] std::int64_t row_elements() const { return tiles_ * workload_.chunk_elements; }
    /// Computing tiles that IO tile `io` serves: [first_of(io), first_of(io + 1)).
    [[nodiscard]] std::int64_t first_of(std::int64_t io) const { return tiles_ * io / io_tiles_; }
    /// IO tiles are the last ones.
    [[nodiscard]] TileId io_tile(std::int64_t io) const { return static_cast<TileId>(tiles_ + io); }
    [[nodiscard]] std::int64_t served_by(std::int64_t io) const {
        return first_of(io + 1) - first_of(io);
    }

    /// Steps and memory, by slot where there are several.
    struct Parts {
        std::array<graph::BufferId, kArrays> slices;            ///< of a row, on computing tiles
        std::vector<std::array<graph::BufferId, kArrays>> rows; ///< on IO tiles
        std::vector<std::array<graph::CopyId, kArrays>> copies;
        std::vector<graph::ExchangeId> in;
        std::vector<graph::ExchangeId> out;
        graph::ComputeSetId triad;
    };

    [[nodiscard]] graph::Graph graph(const std::string& name) const {
        graph::Graph graph(name);
        graph.codelets = {"streamed_triad"};
        for (std::int64_t io = 0; io < io_tiles_; ++io) {
            graph.io_tiles.push_back(io_tile(io));
        }
        Parts parts;
        for (std::size_t array = 0; array < kArrays; ++array) {
            program::RemoteBuffer buffer;
            buffer.name = kNames.at(array);
            buffer.rows = rounds_;
            buffer.row_bytes = tiles_ * slice_bytes_;
            graph.remote_buffers.push_back(buffer);
            parts.slices.at(array) =
                graph.add_buffer({.name = fmt::format("slice of {}", kNames.at(array))});
            for (std::int64_t tile = 0; tile < tiles_; ++tile) {
                graph.hold(parts.slices.at(array), static_cast<TileId>(tile), slice_bytes_);
            }
        }
        add_triad(graph, parts);
        for (std::int64_t slot = 0; slot < slots_; ++slot) {
            add_rows(graph, parts, slot);
            parts.in.push_back(add_exchange(graph, parts, slot, {kB, kC}, true));
            parts.out.push_back(add_exchange(graph, parts, slot, {kA}, false));
        }
        graph.control = control(parts);
        return graph;
    }

    /// The row buffers of a slot, and the copies between them and streaming memory.
    void add_rows(graph::Graph& graph, Parts& parts, std::int64_t slot) const {
        parts.rows.emplace_back();
        parts.copies.emplace_back();
        for (std::size_t array = 0; array < kArrays; ++array) {
            const auto row =
                graph.add_buffer({.name = fmt::format("row {} of {}", slot, kNames.at(array))});
            graph::StreamCopy copy;
            copy.name =
                fmt::format("{} {} {}", array == kA ? "store" : "load", kNames.at(array), slot);
            copy.owner = kOwner;
            copy.remote_buffer = static_cast<std::uint32_t>(array);
            copy.direction = array == kA ? program::StreamCopy::Direction::Write
                                         : program::StreamCopy::Direction::Read;
            for (std::int64_t io = 0; io < io_tiles_; ++io) {
                const Bytes bytes = served_by(io) * slice_bytes_;
                graph.hold(row, io_tile(io), bytes);
                copy.pieces.push_back({io_tile(io), {row}, bytes, first_of(io) * slice_bytes_});
            }
            parts.rows.back().at(array) = row;
            parts.copies.back().at(array) = graph.add_stream_copy(std::move(copy));
        }
    }

    void add_triad(graph::Graph& graph, Parts& parts) const {
        const bool half = element_bytes_ == 2;
        const std::string symbol = half ? "streamed_triad_f16" : "streamed_triad_f32";
        constexpr std::uint32_t kThreeInF16 = 0x4200;
        const std::uint32_t scale =
            half ? kThreeInF16 << 16 | kThreeInF16 : std::bit_cast<std::uint32_t>(float{kScale});
        // No loop makes more rounds than a repeat counts: several vertices share longer slices.
        const std::int64_t words = slice_bytes_ / kWordBytes;
        const std::int64_t workers = machine_.tile.workers;
        parts.triad = graph.add_compute_set({"triad", program::Role::Work, kOwner});
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            plan::for_cuts(words, workers * plan::most_rounds(machine_),
                           [&](std::int64_t first, std::int64_t own) {
                               const auto at = [&](std::size_t array) {
                                   return graph::Place{parts.slices.at(array), first * kWordBytes};
                               };
                               const Bytes bytes = own * kWordBytes;
                               graph.add_vertex(
                                   parts.triad, static_cast<TileId>(tile), symbol,
                                   program::VertexKind::MultiWorker,
                                   {graph::read(at(kB), bytes), graph::read(at(kC), bytes),
                                    graph::write(at(kA), bytes), graph::word(scale),
                                    graph::word(own / workers), graph::word(own % workers)});
                           });
        }
    }

    graph::ExchangeId add_exchange(graph::Graph& graph, const Parts& parts, std::int64_t slot,
                                   const std::vector<std::size_t>& arrays, bool in) const {
        const auto exchange = graph.add_exchange(
            {fmt::format("{} {}", in ? "in" : "out", slot), program::Role::Bring, kOwner});
        for (std::int64_t io = 0; io < io_tiles_; ++io) {
            for (std::int64_t tile = first_of(io); tile < first_of(io + 1); ++tile) {
                for (const std::size_t array : arrays) {
                    const graph::Receiver outside{
                        io_tile(io),
                        {parts.rows.back().at(array), (tile - first_of(io)) * slice_bytes_}};
                    const graph::Receiver inside{static_cast<TileId>(tile),
                                                 {parts.slices.at(array)}};
                    const auto& from = in ? outside : inside;
                    graph.add_message(exchange, from.tile, from.to, slice_bytes_,
                                      in ? inside : outside);
                }
            }
        }
        return exchange;
    }

    /// The copy of one array of round `round`.
    [[nodiscard]] Step copy(const Parts& parts, Kind kind, std::size_t array,
                            std::int64_t round) const {
        const auto slot = static_cast<std::size_t>(round % slots_);
        return graph::stream(kind, parts.copies.at(slot).at(array), round);
    }

    [[nodiscard]] Step control(const Parts& parts) const {
        const bool ahead = workload_.prefetch > 0;
        std::vector<Step> steps;
        const auto load = [&](Kind kind, std::int64_t round) {
            if (round < rounds_) {
                steps.push_back(copy(parts, kind, kB, round));
                steps.push_back(copy(parts, kind, kC, round));
            }
        };
        for (std::int64_t round = 0; ahead && round < slots_; ++round) {
            load(Kind::StreamStart, round);
        }
        for (std::int64_t round = 0; round < rounds_; ++round) {
            const auto slot = static_cast<std::size_t>(round % slots_);
            load(ahead ? Kind::StreamWait : Kind::StreamCopy, round);
            steps.push_back(graph::run(parts.in.at(slot)));
            if (ahead) {
                load(Kind::StreamStart, round + slots_);
            }
            steps.push_back(graph::repeat(workload_.repeats, {graph::run(parts.triad)}));
            if (ahead && round >= slots_) {
                steps.push_back(copy(parts, Kind::StreamWait, kA, round - slots_));
            }
            steps.push_back(graph::run(parts.out.at(slot)));
            steps.push_back(copy(parts, ahead ? Kind::StreamStart : Kind::StreamCopy, kA, round));
        }
        for (std::int64_t round = std::max<std::int64_t>(0, rounds_ - slots_);
             ahead && round < rounds_; ++round) {
            steps.push_back(copy(parts, Kind::StreamWait, kA, round));
        }
        return graph::sequence(std::move(steps));
    }

    /// Small whole numbers, which sum exactly in both types.
    [[nodiscard]] std::vector<std::byte> array_of(const auto& value_at) const {
        const std::int64_t elements = rounds_ * row_elements();
        std::vector<std::byte> bytes(static_cast<std::size_t>(elements * element_bytes_));
        for (std::int64_t i = 0; i < elements; ++i) {
            const auto value = static_cast<float>(value_at(i));
            const std::uint16_t half = f32_to_f16(value);
            std::byte* const at = bytes.data() + i * element_bytes_;
            if (element_bytes_ == 2) {
                std::memcpy(at, &half, sizeof half);
            } else {
                std::memcpy(at, &value, sizeof value);
            }
        }
        return bytes;
    }

    [[nodiscard]] Values values() const {
        const auto b = [](std::int64_t i) { return i % 31 - 15; };
        const auto c = [](std::int64_t i) { return i * 7 % 29 - 14; };
        return {
            {{program::remote_buffer(kB), array_of(b)}, {program::remote_buffer(kC), array_of(c)}},
            {{program::remote_buffer(kA), array_of([&](auto i) { return b(i) + kScale * c(i); })}}};
    }

    spec::MachineSpec machine_;
    workload::StreamedTriadWorkload workload_;
    std::int64_t io_tiles_;
    std::int64_t tiles_; ///< that compute: the first ones
    Bytes element_bytes_;
    Bytes slice_bytes_; ///< of one array on one computing tile
    std::int64_t rounds_;
    std::int64_t slots_; ///< row buffers of each array
};

} // namespace

Emitted emit(const spec::MachineSpec& machine, const workload::StreamedTriadWorkload& workload) {
    return TriadGraph(machine, workload).emit();
}

} // namespace tessera::micro

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
#include "kernels/micro/micro_builder.h"
#include "kernels/micro/micro_plan.h"
#include "kernels/micro/stream_steps.h"
#include "kernels/plan/repeat_limit.h"
#include "models/program/leaf_steps.h"
#include "models/program/remote_sizes.h"
#include "models/spec/machine_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tessera::micro {
namespace {

using program::Step;
using program::StreamCopy;
using Kind = Step::Kind;

enum Array : std::size_t { kB, kC, kA, kArrays };
constexpr std::array<const char*, kArrays> kNames{"b", "c", "a"};
constexpr const char* kOwner = "streamed_triad";
constexpr int kScale = 3;
constexpr Bytes kWordBytes = 8; ///< of the codelet

class TriadPlanner {
public:
    TriadPlanner(const spec::MachineSpec& machine, const workload::StreamedTriadWorkload& workload)
        : machine_(machine), workload_(workload),
          io_tiles_(checked_io_tiles(machine, workload.io_tiles)),
          tiles_(machine.chip.tiles - io_tiles_),
          element_bytes_(workload.dtype == workload::StreamType::F16 ? 2 : 4),
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
    }

    MicroPlan plan() {
        MicroPlan plan;
        plan.sentence = fmt::format(
            "streamed triad, {} {} elements, {} IO tiles, prefetch {}, computed {} times",
            workload_.elements, element_bytes_ == 2 ? "f16" : "f32", io_tiles_, workload_.prefetch,
            workload_.repeats);
        program::Program streams = stream_program();
        const auto sizes = program::remote_sizes(streams.remote_buffers,
                                                 machine_.streaming.capacity_bytes, machine_.name);
        need_memory_of_buffers(sizes, plan.sentence);
        BuildRequest request;
        request.owner = kOwner;
        request.name = plan.sentence;
        request.codelets = {"streamed_triad"};
        plan.program = build_program(machine_, request,
                                     [&](MicroBuilder& builder) { fill(builder, streams); });
        plan.program.control = std::move(streams.control);
        plan.program.remote_buffers = std::move(streams.remote_buffers);
        plan.program.stream_copies = std::move(streams.stream_copies);
        for (std::int64_t io = 0; io < io_tiles_; ++io) {
            plan.program.io_tiles.push_back(io_tile(io));
        }
        add_values(plan);
        plan.useful_bytes = kArrays * workload_.elements * element_bytes_;
        plan.choices = {{"tiles", tiles_},
                        {"rounds", rounds_},
                        {"row_bytes", tiles_ * slice_bytes_},
                        {"row_buffers", slots_}};
        return plan;
    }

private:
    static std::int64_t checked_io_tiles(const spec::MachineSpec& machine, std::int64_t io_tiles) {
        const std::int64_t most = machine.chip.tiles / 2;
        if (io_tiles > most) {
            throw wrong_value(
                "io_tiles",
                fmt::format("got {} IO tiles, expected {} on machine '{}' with its {} tiles: each "
                            "serves another that computes",
                            io_tiles, most == 0 ? "none" : fmt::format("1..{}", most), machine.name,
                            machine.chip.tiles));
        }
        return io_tiles;
    }

    [[nodiscard]] std::int64_t row_elements() const { return tiles_ * workload_.chunk_elements; }
    /// Computing tiles that IO tile `io` serves: [first_of(io), first_of(io + 1)).
    [[nodiscard]] std::int64_t first_of(std::int64_t io) const { return tiles_ * io / io_tiles_; }
    [[nodiscard]] std::int64_t largest_group() const {
        return (tiles_ + io_tiles_ - 1) / io_tiles_;
    }
    /// IO tiles are the last ones.
    [[nodiscard]] TileId io_tile(std::int64_t io) const { return static_cast<TileId>(tiles_ + io); }
    /// A row buffer on the IO tiles.
    [[nodiscard]] static std::string row_buffer(std::int64_t slot, std::size_t array) {
        return fmt::format("row {} of {}", slot, kNames.at(array));
    }
    /// What a computing tile has of a row.
    [[nodiscard]] static std::string slice(std::size_t array) {
        return fmt::format("slice of {}", kNames.at(array));
    }
    [[nodiscard]] std::int64_t served_by(std::int64_t io) const {
        return first_of(io + 1) - first_of(io);
    }
    template <class Visit> void for_row_buffers(const Visit& visit) const {
        for (std::int64_t slot = 0; slot < slots_; ++slot) {
            for (std::size_t array = 0; array < kArrays; ++array) {
                visit(slot, array);
            }
        }
    }

    /// What the steps of the control program read and write, IO tiles and others alike.
    [[nodiscard]] plan::Liveness liveness(const program::Program& streams) const {
        plan::Liveness steps;
        for (const Step* leaf : program::leaf_steps(streams)) {
            if (leaf->kind == Kind::ComputeSet) {
                steps.step("triad").reads({slice(kB), slice(kC)}).writes({slice(kA)});
            } else if (leaf->kind == Kind::Exchange) {
                const std::int64_t slot = leaf->index / 2;
                steps.step(exchange_name(leaf->index));
                if (leaf->index % 2 == 0) {
                    steps.reads({row_buffer(slot, kB), row_buffer(slot, kC)});
                    steps.writes({slice(kB), slice(kC)});
                } else {
                    steps.reads({slice(kA)}).writes({row_buffer(slot, kA)});
                }
            } else {
                const auto array = leaf->index % kArrays;
                const std::string buffer = row_buffer(leaf->index / kArrays, array);
                steps.step(streams.stream_copies.at(leaf->index).name);
                if (array == kA || leaf->kind == Kind::StreamWait) {
                    steps.reads({buffer});
                } else {
                    steps.writes({buffer});
                }
            }
        }
        return steps;
    }

    void fill(MicroBuilder& builder, program::Program& streams) const {
        const plan::Liveness steps = liveness(streams);
        std::vector<plan::BufferRequest> slices;
        for (std::size_t array = 0; array < kArrays; ++array) {
            slices.push_back(tensor_buffer(slice(array), slice_bytes_));
        }
        std::vector<plan::BufferRequest> rows;
        for_row_buffers([&](std::int64_t slot, std::size_t array) {
            rows.push_back(tensor_buffer(row_buffer(slot, array), largest_group() * slice_bytes_));
        });
        builder.place(slices, steps);
        builder.place_elsewhere(rows, steps, fullest_io_tile());
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            for (std::size_t array = 0; array < kArrays; ++array) {
                builder.hold(static_cast<TileId>(tile), slice(array), slice_bytes_);
            }
        }
        for_row_buffers([&](std::int64_t slot, std::size_t array) {
            StreamCopy& copy = streams.stream_copies.at(copy_of(slot, array));
            for (std::int64_t io = 0; io < io_tiles_; ++io) {
                const Bytes bytes = served_by(io) * slice_bytes_;
                builder.hold(io_tile(io), row_buffer(slot, array), bytes);
                copy.pieces.at(static_cast<std::size_t>(io)).address =
                    builder.address(row_buffer(slot, array));
            }
        });
        add_triad(builder);
        for (std::int64_t slot = 0; slot < slots_; ++slot) {
            add_exchange(builder, slot, {kB, kC}, true);
            add_exchange(builder, slot, {kA}, false);
        }
    }

    /// The first of those that serve most tiles.
    [[nodiscard]] TileId fullest_io_tile() const {
        std::int64_t io = 0;
        while (served_by(io) < largest_group()) {
            ++io;
        }
        return io_tile(io);
    }

    void add_triad(MicroBuilder& builder) const {
        const bool half = element_bytes_ == 2;
        const std::string symbol = half ? "streamed_triad_f16" : "streamed_triad_f32";
        constexpr std::uint32_t kThreeInF16 = 0x4200;
        const std::uint32_t scale =
            half ? kThreeInF16 << 16 | kThreeInF16 : std::bit_cast<std::uint32_t>(float{kScale});
        // No loop makes more rounds than a repeat counts: several vertices share longer slices.
        const std::int64_t words = slice_bytes_ / kWordBytes;
        const std::int64_t most = machine_.tile.workers * plan::most_rounds(machine_);
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        Vertices vertices = builder.no_vertices();
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            plan::for_cuts(words, most, [&](std::int64_t first, std::int64_t cut) {
                const auto own = static_cast<std::uint32_t>(cut);
                const auto from = [&](std::size_t array) {
                    return builder.address(slice(array)) + static_cast<Address>(first * kWordBytes);
                };
                vertices[static_cast<std::size_t>(tile)].push_back(builder.workers(
                    static_cast<TileId>(tile), symbol,
                    {from(kB), from(kC), from(kA), scale, own / workers, own % workers}));
            });
        }
        builder.add_compute_set("triad", program::Role::Work, std::move(vertices));
    }

    static std::string exchange_name(std::uint32_t index) {
        return fmt::format("{} {}", index % 2 == 0 ? "in" : "out", index / 2);
    }

    void add_exchange(MicroBuilder& builder, std::int64_t slot,
                      const std::vector<std::size_t>& arrays, bool in) const {
        std::vector<program::Transfer> transfers;
        for (std::int64_t io = 0; io < io_tiles_; ++io) {
            for (std::int64_t tile = first_of(io); tile < first_of(io + 1); ++tile) {
                for (const std::size_t array : arrays) {
                    const program::Destination outside{
                        io_tile(io),
                        builder.address(row_buffer(slot, array)) +
                            static_cast<Address>((tile - first_of(io)) * slice_bytes_)};
                    const program::Destination inside{static_cast<TileId>(tile),
                                                      builder.address(slice(array))};
                    const auto& from = in ? outside : inside;
                    transfers.push_back(
                        {from.tile, from.address, slice_bytes_, false, {in ? inside : outside}});
                }
            }
        }
        builder.add_exchange(exchange_name(static_cast<std::uint32_t>(2 * slot + (in ? 0 : 1))),
                             program::Role::Bring, std::move(transfers));
    }

    /// Buffers, copies and control; the copies' pieces have no addresses yet.
    [[nodiscard]] program::Program stream_program() const {
        program::Program program;
        for (std::size_t array = 0; array < kArrays; ++array) {
            program::RemoteBuffer buffer;
            buffer.name = kNames.at(array);
            buffer.rows = rounds_;
            buffer.row_bytes = tiles_ * slice_bytes_;
            program.remote_buffers.push_back(buffer);
        }
        for_row_buffers([&](std::int64_t slot, std::size_t array) {
            StreamCopy copy;
            copy.name =
                fmt::format("{} {} {}", array == kA ? "store" : "load", kNames.at(array), slot);
            copy.buffer = static_cast<std::uint32_t>(array);
            copy.direction =
                array == kA ? StreamCopy::Direction::Write : StreamCopy::Direction::Read;
            copy.role = program::Role::Stream;
            copy.owner = kOwner;
            for (std::int64_t io = 0; io < io_tiles_; ++io) {
                copy.pieces.push_back(
                    {io_tile(io), 0, served_by(io) * slice_bytes_, first_of(io) * slice_bytes_});
            }
            program.stream_copies.push_back(std::move(copy));
        });
        program.control = control();
        return program;
    }

    [[nodiscard]] static std::uint32_t copy_of(std::int64_t slot, std::size_t array) {
        return static_cast<std::uint32_t>(slot * static_cast<std::int64_t>(kArrays)) +
               static_cast<std::uint32_t>(array);
    }

    /// The steps of one array of round `round`.
    void stream(std::vector<Step>& steps, Kind kind, std::size_t array, std::int64_t round) const {
        steps.push_back(step(kind, copy_of(round % slots_, array), round));
    }

    [[nodiscard]] Step control() const {
        const bool ahead = workload_.prefetch > 0;
        Step all = step(Kind::Sequence);
        auto& steps = all.children;
        const auto load = [&](Kind kind, std::int64_t round) {
            if (round < rounds_) {
                stream(steps, kind, kB, round);
                stream(steps, kind, kC, round);
            }
        };
        for (std::int64_t round = 0; ahead && round < slots_; ++round) {
            load(Kind::StreamStart, round);
        }
        for (std::int64_t round = 0; round < rounds_; ++round) {
            const auto slot = static_cast<std::uint32_t>(round % slots_);
            load(ahead ? Kind::StreamWait : Kind::StreamCopy, round);
            steps.push_back(step(Kind::Exchange, 2 * slot));
            if (ahead) {
                load(Kind::StreamStart, round + slots_);
            }
            steps.push_back(repeat(workload_.repeats, {step(Kind::ComputeSet)}));
            if (ahead && round >= slots_) {
                stream(steps, Kind::StreamWait, kA, round - slots_);
            }
            steps.push_back(step(Kind::Exchange, 2 * slot + 1));
            stream(steps, ahead ? Kind::StreamStart : Kind::StreamCopy, kA, round);
        }
        for (std::int64_t round = std::max<std::int64_t>(0, rounds_ - slots_);
             ahead && round < rounds_; ++round) {
            stream(steps, Kind::StreamWait, kA, round);
        }
        return all;
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

    void add_values(MicroPlan& plan) const {
        const auto b = [](std::int64_t i) { return i % 31 - 15; };
        const auto c = [](std::int64_t i) { return i * 7 % 29 - 14; };
        plan.operands.push_back({"b", array_of(b)});
        plan.operands.push_back({"c", array_of(c)});
        plan.expected.push_back({"a", array_of([&](auto i) { return b(i) + kScale * c(i); })});
    }

    const spec::MachineSpec& machine_;
    const workload::StreamedTriadWorkload& workload_;
    std::int64_t io_tiles_;
    std::int64_t tiles_; ///< that compute: the first ones
    Bytes element_bytes_;
    Bytes slice_bytes_; ///< of one array on one computing tile
    std::int64_t rounds_;
    std::int64_t slots_; ///< row buffers of each array
};

} // namespace

MicroPlan plan(const spec::MachineSpec& machine, const workload::StreamedTriadWorkload& workload) {
    return TriadPlanner(machine, workload).plan();
}

} // namespace tessera::micro

// SPDX-License-Identifier: MIT
// a = b + s c over arrays in streaming memory: rows come to IO tiles, an exchange hands them to the
// other tiles, which compute, and back.
//
//   remote b, c --stream--> IO tiles, `prefetch` row buffers --exchange--> tiles: a = b + s c
//   remote a   <--stream--  IO tiles, as many row buffers    <--exchange--
//
// A row is what one round computes: `chunk_elements` on every computing tile. With prefetch 0 every
// copy is waited for where it begins.
#include "base/error.h"
#include "base/float16.h"
#include "kernels/micro/micro_plan.h"
#include "kernels/micro/stream_steps.h"
#include "kernels/plan/exchange_planner.h"
#include "kernels/plan/image_builder.h"
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
constexpr int kScale = 3;

class TriadPlanner {
public:
    TriadPlanner(const spec::MachineSpec& machine, const workload::StreamedTriadWorkload& workload)
        : machine_(machine), workload_(workload), library_(machine, {"streamed_triad"}),
          images_(machine, library_, "streamed_triad"), io_tiles_(workload.io_tiles),
          tiles_(machine.chip.tiles - workload.io_tiles),
          slots_(std::max<std::int64_t>(1, workload.prefetch)),
          element_bytes_(workload.dtype == workload::StreamType::F16 ? 2 : 4),
          slice_bytes_(workload.chunk_elements * element_bytes_) {}

    MicroPlan plan() {
        check();
        rounds_ = (workload_.elements + row_elements() - 1) / row_elements();
        MicroPlan plan;
        add_triad();
        for (std::int64_t slot = 0; slot < slots_; ++slot) {
            add_exchange("in", slot, {kB, kC}, true);
            add_exchange("out", slot, {kA}, false);
        }
        plan.program = images_.build();
        add_streams(plan.program);
        plan.program.control = control();
        add_values(plan);
        plan.useful_bytes = kArrays * workload_.elements * element_bytes_;
        plan.sentence = fmt::format(
            "streamed triad, {} {} elements, {} IO tiles, prefetch {}, computed {} times",
            workload_.elements, element_bytes_ == 2 ? "f16" : "f32", io_tiles_, workload_.prefetch,
            workload_.repeats);
        plan.choices = {{"tiles", tiles_},
                        {"rounds", rounds_},
                        {"row_bytes", tiles_ * slice_bytes_},
                        {"row_buffers", slots_}};
        return plan;
    }

private:
    [[nodiscard]] std::int64_t row_elements() const { return tiles_ * workload_.chunk_elements; }
    /// Computing tiles that IO tile `io` serves: [first_of(io), first_of(io + 1)).
    [[nodiscard]] std::int64_t first_of(std::int64_t io) const { return tiles_ * io / io_tiles_; }
    [[nodiscard]] std::int64_t largest_group() const {
        return (tiles_ + io_tiles_ - 1) / io_tiles_;
    }
    /// IO tiles are the last ones.
    [[nodiscard]] TileId io_tile(std::int64_t io) const { return static_cast<TileId>(tiles_ + io); }
    [[nodiscard]] Address in_tile(std::size_t array) const {
        return machine_.memory.region1_begin() +
               static_cast<Address>(static_cast<Bytes>(array) * slice_bytes_);
    }
    [[nodiscard]] Address on_io(std::int64_t slot, std::size_t array) const {
        const auto buffer =
            slot * static_cast<std::int64_t>(kArrays) + static_cast<std::int64_t>(array);
        return machine_.memory.region1_begin() +
               static_cast<Address>(buffer * largest_group() * slice_bytes_);
    }

    void check() const {
        if (tiles_ < 1) {
            throw DoesNotFit(fmt::format(
                "streamed_triad: got {} IO tiles, expected fewer than the {} of machine {}",
                io_tiles_, machine_.chip.tiles, machine_.name));
        }
        if (io_tiles_ > tiles_) {
            throw DoesNotFit(fmt::format(
                "streamed_triad: got {} IO tiles for {} others, expected at most one for each",
                io_tiles_, tiles_));
        }
        const Bytes on_io_bytes = slots_ * Bytes{kArrays} * largest_group() * slice_bytes_;
        const Bytes most = std::max(on_io_bytes, Bytes{kArrays} * slice_bytes_);
        if (most > machine_.memory.region1_bytes) {
            throw DoesNotFit(fmt::format(
                "streamed_triad: row buffers take {} bytes on a tile, expected at most {}; more "
                "io_tiles, less prefetch or smaller chunk_elements take less",
                most, machine_.memory.region1_bytes));
        }
    }

    void add_triad() {
        const bool half = element_bytes_ == 2;
        const std::string symbol = half ? "streamed_triad_f16" : "streamed_triad_f32";
        constexpr std::uint32_t kThreeInF16 = 0x4200;
        const std::uint32_t scale =
            half ? kThreeInF16 << 16 | kThreeInF16 : std::bit_cast<std::uint32_t>(float{kScale});
        const auto words = static_cast<std::uint32_t>(slice_bytes_ / 8);
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        const std::vector<std::uint32_t> state{in_tile(kB), in_tile(kC),     in_tile(kA),
                                               scale,       words / workers, words % workers};
        // An element away from the code, in region 0.
        const Address at = machine_.memory.region0_begin() +
                           static_cast<Address>(4 * machine_.memory.element_bytes);
        std::vector<std::vector<program::Vertex>> vertices(static_cast<std::size_t>(tiles_));
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            images_.add_words(static_cast<TileId>(tile), program::SegmentKind::VertexState,
                              "vertex state", at, state);
            vertices[static_cast<std::size_t>(tile)].push_back({library_.entry(symbol),
                                                                program::VertexKind::MultiWorker,
                                                                at, images_.vertex_name(symbol)});
            images_.add_zero(static_cast<TileId>(tile), program::SegmentKind::Tensor, "slices",
                             in_tile(0), Bytes{kArrays} * slice_bytes_);
        }
        for (std::int64_t io = 0; io < io_tiles_; ++io) {
            images_.add_zero(io_tile(io), program::SegmentKind::Tensor, "row buffers", on_io(0, 0),
                             slots_ * Bytes{kArrays} * largest_group() * slice_bytes_);
        }
        images_.add_compute_set("triad", std::move(vertices));
    }

    void add_exchange(const char* name, std::int64_t slot, const std::vector<std::size_t>& arrays,
                      bool in) {
        std::vector<program::Transfer> transfers;
        for (std::int64_t io = 0; io < io_tiles_; ++io) {
            for (std::int64_t tile = first_of(io); tile < first_of(io + 1); ++tile) {
                for (const std::size_t array : arrays) {
                    const program::Destination outside{
                        io_tile(io),
                        on_io(slot, array) +
                            static_cast<Address>((tile - first_of(io)) * slice_bytes_)};
                    const program::Destination inside{static_cast<TileId>(tile), in_tile(array)};
                    const auto& from = in ? outside : inside;
                    transfers.push_back(
                        {from.tile, from.address, slice_bytes_, false, {in ? inside : outside}});
                }
            }
        }
        images_.add_exchange(
            plan::plan_exchange(machine_, fmt::format("{} {}", name, slot), std::move(transfers)));
    }

    void add_streams(program::Program& program) const {
        for (std::size_t array = 0; array < kArrays; ++array) {
            program::RemoteBuffer buffer;
            buffer.name = kNames[array];
            buffer.rows = rounds_;
            buffer.row_bytes = tiles_ * slice_bytes_;
            program.remote_buffers.push_back(buffer);
        }
        for (std::int64_t slot = 0; slot < slots_; ++slot) {
            for (std::size_t array = 0; array < kArrays; ++array) {
                StreamCopy copy;
                copy.name =
                    fmt::format("{} {} {}", array == kA ? "store" : "load", kNames[array], slot);
                copy.buffer = static_cast<std::uint32_t>(array);
                copy.direction =
                    array == kA ? StreamCopy::Direction::Write : StreamCopy::Direction::Read;
                for (std::int64_t io = 0; io < io_tiles_; ++io) {
                    copy.pieces.push_back({io_tile(io), on_io(slot, array),
                                           (first_of(io + 1) - first_of(io)) * slice_bytes_,
                                           first_of(io) * slice_bytes_});
                }
                program.stream_copies.push_back(std::move(copy));
            }
        }
        for (std::int64_t io = 0; io < io_tiles_; ++io) {
            program.io_tiles.push_back(io_tile(io));
        }
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
    plan::CodeletLibrary library_;
    plan::ImageBuilder images_;
    std::int64_t io_tiles_;
    std::int64_t tiles_; ///< that compute: the first ones
    std::int64_t slots_;
    Bytes element_bytes_;
    Bytes slice_bytes_; ///< of one array on one computing tile
    std::int64_t rounds_ = 0;
};

} // namespace

MicroPlan plan(const spec::MachineSpec& machine, const workload::StreamedTriadWorkload& workload) {
    return TriadPlanner(machine, workload).plan();
}

} // namespace tessera::micro

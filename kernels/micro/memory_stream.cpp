// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/float16.h"
#include "kernels/micro/micro_builder.h"
#include "kernels/micro/micro_plan.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace tessera::micro {
namespace {

using program::DType;
using workload::MemoryStreamWorkload;
using workload::StreamCodelet;
using workload::StreamOp;
using workload::StreamType;

constexpr Bytes kUnitBytes = 16;  ///< in which arrays are dealt to tiles and workers
constexpr Bytes kReadBeyond = 32; ///< that the loops may read behind an array
constexpr Bytes kSumBytes = 16;   ///< of one worker that reads
constexpr float kScale = 3;
constexpr std::int64_t kWordsOfUnit = 2;

const char* name_of(StreamOp op) {
    switch (op) {
    case StreamOp::Copy:
        return "copy";
    case StreamOp::Scale:
        return "scale";
    case StreamOp::Add:
        return "add";
    case StreamOp::Triad:
        return "triad";
    case StreamOp::Read:
        break;
    }
    return "read";
}

const char* name_of(StreamCodelet codelet) {
    switch (codelet) {
    case StreamCodelet::Paced:
        return "paced";
    case StreamCodelet::Vector:
        return "vector";
    case StreamCodelet::Vendor:
        return "vendor";
    case StreamCodelet::Naive:
        break;
    }
    return "naive";
}

/// Small whole numbers: every result is exact in FP16 and every sum in FP32.
float value_of_a(std::int64_t element) {
    return static_cast<float>(element % 13 + 1);
}
float value_of_b(std::int64_t element) {
    return static_cast<float>(element % 7);
}

class StreamPlanner {
public:
    StreamPlanner(const spec::MachineSpec& machine, const MemoryStreamWorkload& workload)
        : machine_(machine), workload_(workload),
          tiles_(tiles_or_all(machine, workload.tiles, machine.chip.tiles)),
          units_(workload.elements / workload.unit_elements()) {
        if (units_ < tiles_ * least_units()) {
            throw ConfigError(Diagnostic{
                "workload",
                0,
                0,
                "/elements",
                fmt::format("got {} elements, expected at least {} for {} tiles", workload.elements,
                            tiles_ * least_units() * workload.unit_elements(), tiles_),
                {}});
        }
        check_repeat_counts();
    }

    [[nodiscard]] program::Program program(const std::string& name) const {
        BuildRequest request;
        request.name = name;
        request.codelets = {"stream"};
        request.repeats = workload_.repeats;
        return build_program(machine_, request, [&](MicroBuilder& builder) { fill(builder); });
    }

    /// The same numbers stand on every tile, which has the first ones of the longest share.
    [[nodiscard]] std::vector<std::byte> operand(float (*value)(std::int64_t)) const {
        std::vector<std::byte> bytes(static_cast<std::size_t>(most_units() * kUnitBytes));
        for (std::int64_t i = 0; i < most_units() * workload_.unit_elements(); ++i) {
            write(bytes, i, value(i));
        }
        return bytes;
    }

    [[nodiscard]] std::vector<std::byte> expected() const {
        std::vector<std::byte> bytes;
        if (reads()) {
            for (std::int64_t tile = 0; tile < tiles_; ++tile) {
                append_sums(bytes, units_of(tile));
            }
            return bytes;
        }
        std::vector<std::byte> longest(static_cast<std::size_t>(most_units() * kUnitBytes));
        for (std::int64_t i = 0; i < most_units() * workload_.unit_elements(); ++i) {
            write(longest, i, result(value_of_a(i), value_of_b(i)));
        }
        bytes.reserve(static_cast<std::size_t>(units_ * kUnitBytes));
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            bytes.insert(bytes.end(), longest.begin(),
                         longest.begin() + units_of(tile) * kUnitBytes);
        }
        return bytes;
    }

    /// Bytes of an element that the op moves: STREAM counts what it names.
    [[nodiscard]] Bytes useful_bytes() const {
        return units_ * kUnitBytes * (1 + (reads() ? 0 : 1) + (uses_b() ? 1 : 0)) *
               workload_.repeats;
    }
    [[nodiscard]] bool uses_b() const {
        return workload_.op == StreamOp::Add || workload_.op == StreamOp::Triad;
    }
    [[nodiscard]] bool reads() const { return workload_.op == StreamOp::Read; }

private:
    [[nodiscard]] DType type() const {
        return workload_.dtype == StreamType::F16 ? DType::F16 : DType::F32;
    }
    [[nodiscard]] std::int64_t units_of(std::int64_t tile) const {
        return units_ * (tile + 1) / tiles_ - units_ * tile / tiles_;
    }
    [[nodiscard]] std::int64_t most_units() const { return (units_ + tiles_ - 1) / tiles_; }
    [[nodiscard]] Bytes array_bytes() const { return most_units() * kUnitBytes + kReadBeyond; }

    /// On a tile: the paced triad has three words under way before its loop begins.
    [[nodiscard]] std::int64_t least_units() const {
        const bool three_words =
            workload_.codelet == StreamCodelet::Paced && workload_.op == StreamOp::Triad;
        return three_words ? 2 * machine_.tile.workers : 1;
    }
    /// Two operations in a row have an array between them.
    [[nodiscard]] bool has_product() const {
        return workload_.codelet == StreamCodelet::Vendor && workload_.op == StreamOp::Triad;
    }

    void check_repeat_counts() const {
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t words = (most_units() + workers - 1) / workers * kWordsOfUnit;
        const std::int64_t most = plan::most_rounds(machine_);
        if (workload_.codelet != StreamCodelet::Naive || reads()) {
            if (words > most) {
                throw DoesNotFit(fmt::format("a worker has {} words of 8 B, a loop of machine "
                                             "'{}' makes at most {} rounds",
                                             words, machine_.name, most));
            }
        }
    }

    void write(std::vector<std::byte>& bytes, std::int64_t element, float value) const {
        if (type() == DType::F32) {
            std::memcpy(bytes.data() + element * 4, &value, 4);
        } else {
            const std::uint16_t half = f32_to_f16(value);
            std::memcpy(bytes.data() + element * 2, &half, 2);
        }
    }

    [[nodiscard]] float result(float a, float b) const {
        switch (workload_.op) {
        case StreamOp::Copy:
            return a;
        case StreamOp::Scale:
            return kScale * a;
        case StreamOp::Add:
            return a + b;
        case StreamOp::Triad:
            return a + kScale * b;
        case StreamOp::Read:
            break;
        }
        TESSERA_ASSERT(!"a read has sums, not elements");
        return 0;
    }

    /// Sums of the workers of a tile, lane by lane.
    void append_sums(std::vector<std::byte>& bytes, std::int64_t units) const {
        const std::int64_t lanes = workload_.codelet == StreamCodelet::Paced    ? 4
                                   : workload_.codelet == StreamCodelet::Vector ? 2
                                                                                : 1;
        const std::int64_t workers = machine_.tile.workers;
        std::int64_t element = 0;
        for (std::int64_t w = 0; w < workers; ++w) {
            std::vector<float> sums(kSumBytes / 4);
            const std::int64_t own = units / workers + (w < units % workers ? 1 : 0);
            for (std::int64_t i = 0; i < own * workload_.unit_elements(); ++i) {
                sums[static_cast<std::size_t>(i % lanes)] += value_of_a(element++);
            }
            const auto* first = reinterpret_cast<const std::byte*>(sums.data());
            bytes.insert(bytes.end(), first, first + kSumBytes);
        }
    }

    /// Where an array stands. Bundles with several accesses want them in different elements, and
    /// loads of two arrays or of 16 bytes one in region 1.
    Address place(MicroBuilder& builder, const std::string& name, Bytes bytes,
                  const std::vector<std::string>& others) const {
        const bool paced = workload_.codelet == StreamCodelet::Paced;
        return builder.place({name, program::SegmentKind::Tensor, bytes, kUnitBytes,
                              paced && name == "a" ? plan::Where::Region1 : plan::Where::Any,
                              paced ? others : std::vector<std::string>{}});
    }

    void fill(MicroBuilder& builder) const {
        const Bytes sums = machine_.tile.workers * kSumBytes;
        const Address a = place(builder, "a", array_bytes(), {});
        const Address b = uses_b() ? place(builder, "b", array_bytes(), {"a"}) : 0;
        const Address c = place(builder, "c", reads() ? sums : array_bytes(), {"a", "b"});
        const Address product = has_product() ? place(builder, "product", array_bytes(), {}) : 0;
        const std::int64_t most = most_units() * workload_.unit_elements();
        auto tensor_a = array_tensor("a", type(), most);
        auto tensor_b = array_tensor("b", type(), most);
        auto tensor_c = array_tensor("c", type(), reads() ? tiles_ * sums / 4 : workload_.elements);
        std::int64_t first = 0;
        for (std::int64_t t = 0; t < tiles_; ++t) {
            const auto tile = static_cast<TileId>(t);
            const std::int64_t elements = units_of(t) * workload_.unit_elements();
            builder.hold(tile, "a", array_bytes());
            tensor_a.pieces.push_back(run_of(tile, a, 0, elements, type()));
            if (uses_b()) {
                builder.hold(tile, "b", array_bytes());
                tensor_b.pieces.push_back(run_of(tile, b, 0, elements, type()));
            }
            builder.hold(tile, "c", reads() ? sums : array_bytes());
            if (has_product()) {
                builder.hold(tile, "product", array_bytes());
            }
            const std::int64_t results = reads() ? sums / 4 : elements;
            tensor_c.pieces.push_back(run_of(tile, c, first, results, type()));
            first += results;
        }
        add_steps(builder, a, b, c, product);
        builder.add_tensor(std::move(tensor_a));
        if (uses_b()) {
            builder.add_tensor(std::move(tensor_b));
        }
        builder.add_tensor(std::move(tensor_c));
    }

    void add_steps(MicroBuilder& builder, Address a, Address b, Address c, Address product) const {
        const char* op = name_of(workload_.op);
        if (workload_.codelet != StreamCodelet::Vendor) {
            add_step(builder, op, op, name_of(workload_.codelet), {a, b, c});
        } else if (has_product()) {
            add_step(builder, "triad: multiply", "scale", "vector", {b, 0, product});
            add_step(builder, "triad: add", "add", "vector", {a, product, c});
        } else {
            add_step(builder, op, op, "vector", {a, b, c});
        }
    }

    struct Arrays {
        Address a = 0;
        Address b = 0;
        Address c = 0;
    };

    void add_step(MicroBuilder& builder, const std::string& name, const std::string& op,
                  const std::string& way, const Arrays& arrays) const {
        const std::string symbol = fmt::format("stream_{}_{}_{}", op, way,
                                               workload_.dtype == StreamType::F16 ? "f16" : "f32");
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        Vertices vertices = builder.no_vertices();
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            const auto units = static_cast<std::uint32_t>(units_of(tile));
            vertices[static_cast<std::size_t>(tile)].push_back(builder.workers(
                static_cast<TileId>(tile), symbol,
                {arrays.a, arrays.b, arrays.c, units / workers, units % workers, scale_word()}));
        }
        builder.add_compute_set(name, std::move(vertices));
    }

    /// FP32; or FP16 with 1 behind it, which is what a mix of two arrays multiplies the other with.
    [[nodiscard]] std::uint32_t scale_word() const {
        return workload_.dtype == StreamType::F32
                   ? std::bit_cast<std::uint32_t>(kScale)
                   : f32_to_f16(kScale) | static_cast<std::uint32_t>(f32_to_f16(1)) << 16U;
    }

    const spec::MachineSpec& machine_;
    const MemoryStreamWorkload& workload_;
    std::int64_t tiles_;
    std::int64_t units_;
};

} // namespace

MicroPlan plan(const spec::MachineSpec& machine, const MemoryStreamWorkload& workload) {
    const StreamPlanner planner(machine, workload);
    MicroPlan plan;
    plan.sentence =
        fmt::format("STREAM {} of {} {} elements, {} loop, {} times", name_of(workload.op),
                    workload.elements, workload.dtype == StreamType::F16 ? "f16" : "f32",
                    name_of(workload.codelet), workload.repeats);
    plan.program = planner.program(plan.sentence);
    plan.operands.push_back({"a", planner.operand(value_of_a)});
    if (planner.uses_b()) {
        plan.operands.push_back({"b", planner.operand(value_of_b)});
    }
    plan.expected.push_back({"c", planner.expected()});
    plan.useful_bytes = planner.useful_bytes();
    return plan;
}

} // namespace tessera::micro

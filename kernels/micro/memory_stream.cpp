// SPDX-License-Identifier: MIT
#include "base/float16.h"
#include "kernels/micro/limits.h"
#include "kernels/micro/micro.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>

namespace tessera::micro {
namespace {

using workload::MemoryStreamWorkload;
using workload::StreamCodelet;
using workload::StreamOp;

constexpr const char* kOwner = "memory_stream";
constexpr Bytes kUnitBytes = 16;  ///< in which arrays are dealt to tiles and workers
constexpr Bytes kReadBeyond = 32; ///< that the loops may read behind an array
constexpr Bytes kSumBytes = 16;   ///< of one worker that reads
constexpr float kScale = 3;
constexpr std::int64_t kWordsOfUnit = 2;
constexpr const char* kMultiply = "triad: multiply";
constexpr const char* kAdd = "triad: add";

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

class StreamGraph {
public:
    StreamGraph(const spec::MachineSpec& machine, const MemoryStreamWorkload& workload)
        : machine_(machine), workload_(workload),
          tiles_(tiles_or_all(machine, workload.tiles, machine.chip.tiles)),
          units_(workload.elements / workload.unit_elements()),
          cuts_(plan::cuts_of(most_units(), units_of_cut())) {
        if (units_ < tiles_ * least_units()) {
            throw wrong_value(
                "elements",
                fmt::format("got {} elements, expected at least {} for {} tiles", workload.elements,
                            tiles_ * least_units() * workload.unit_elements(), tiles_));
        }
    }

    [[nodiscard]] graph::Graph graph(const std::string& name) const {
        graph::Graph graph(name);
        graph.codelets = {"stream"};
        const Arrays arrays = add_arrays(graph);
        graph.control = graph::repeat(workload_.repeats, add_steps(graph, arrays));
        add_tensors(graph, arrays);
        return graph;
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
                append_sums(bytes, tile);
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
    [[nodiscard]] ElementType type() const {
        return workload_.dtype == ElementType::F16 ? ElementType::F16 : ElementType::F32;
    }
    [[nodiscard]] std::int64_t units_of(std::int64_t tile) const {
        return units_ * (tile + 1) / tiles_ - units_ * tile / tiles_;
    }
    [[nodiscard]] std::int64_t most_units() const { return (units_ + tiles_ - 1) / tiles_; }
    [[nodiscard]] Bytes array_bytes() const { return most_units() * kUnitBytes; }

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

    /// Units of a tile that one vertex may have: no loop makes more rounds than a repeat counts.
    [[nodiscard]] std::int64_t units_of_cut() const {
        const bool branches = workload_.codelet == StreamCodelet::Naive && !reads();
        return branches ? std::numeric_limits<std::int64_t>::max()
                        : machine_.tile.workers * (plan::most_rounds(machine_) / kWordsOfUnit);
    }
    /// Where a tile's cut begins: every cut has about as many units.
    [[nodiscard]] std::int64_t first_of(std::int64_t tile, std::int64_t cut) const {
        return units_of(tile) * cut / cuts_;
    }

    void write(std::vector<std::byte>& bytes, std::int64_t element, float value) const {
        if (type() == ElementType::F32) {
            std::memcpy(&bytes.at(static_cast<std::size_t>(element * 4)), &value, 4);
        } else {
            const std::uint16_t half = f32_to_f16(value);
            std::memcpy(&bytes.at(static_cast<std::size_t>(element * 2)), &half, 2);
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

    /// Sums of the workers of a tile, cut by cut and lane by lane.
    void append_sums(std::vector<std::byte>& bytes, std::int64_t tile) const {
        const std::int64_t lanes = workload_.codelet == StreamCodelet::Paced    ? 4
                                   : workload_.codelet == StreamCodelet::Vector ? 2
                                                                                : 1;
        const std::int64_t workers = machine_.tile.workers;
        std::int64_t element = 0;
        for (std::int64_t i = 0; i < cuts_ * workers; ++i) {
            const std::int64_t w = i % workers;
            const std::int64_t units =
                first_of(tile, i / workers + 1) - first_of(tile, i / workers);
            std::vector<float> sums(kSumBytes / 4);
            const std::int64_t own = units / workers + (w < units % workers ? 1 : 0);
            for (std::int64_t e = 0; e < own * workload_.unit_elements(); ++e) {
                sums[static_cast<std::size_t>(e % lanes)] += value_of_a(element++);
            }
            const auto* first = reinterpret_cast<const std::byte*>(sums.data());
            bytes.insert(bytes.end(), first, first + kSumBytes);
        }
    }

    /// What the reading workers of a tile leave.
    [[nodiscard]] Bytes sums_bytes() const { return cuts_ * machine_.tile.workers * kSumBytes; }

    struct Arrays {
        graph::BufferId a;
        graph::BufferId b;
        graph::BufferId c;
        graph::BufferId product;
    };

    /// Bundles with several accesses want them in different elements, and loads of two arrays or of
    /// 16 bytes one in region 1.
    [[nodiscard]] Arrays add_arrays(graph::Graph& graph) const {
        const bool paced = workload_.codelet == StreamCodelet::Paced;
        const auto array = [&](const char* name, std::vector<graph::BufferId> apart) {
            return graph.add_buffer(
                {.name = name,
                 .where = paced && apart.empty() ? graph::Where::Region1 : graph::Where::Any,
                 .read_beyond = kReadBeyond,
                 .apart = paced ? std::move(apart) : std::vector<graph::BufferId>{}});
        };
        Arrays arrays;
        arrays.a = array("a", {});
        arrays.b = array("b", {arrays.a});
        arrays.c = array("c", {arrays.a, arrays.b});
        graph.buffers[arrays.c.index].read_beyond = reads() ? 0 : kReadBeyond;
        arrays.product = graph.add_buffer({.name = "product", .read_beyond = kReadBeyond});
        for (std::int64_t t = 0; t < tiles_; ++t) {
            const auto tile = static_cast<TileId>(t);
            graph.hold(arrays.a, tile, array_bytes());
            graph.hold(arrays.b, tile, uses_b() ? array_bytes() : 0);
            graph.hold(arrays.c, tile, reads() ? sums_bytes() : array_bytes());
            graph.hold(arrays.product, tile, has_product() ? array_bytes() : 0);
        }
        return arrays;
    }

    void add_tensors(graph::Graph& graph, const Arrays& arrays) const {
        const std::int64_t most = most_units() * workload_.unit_elements();
        const Bytes sums = sums_bytes();
        auto a = graph::array_tensor("a", type(), most);
        auto b = graph::array_tensor("b", type(), most);
        auto c = graph::array_tensor("c", type(), reads() ? tiles_ * sums / 4 : workload_.elements);
        a.given = b.given = c.wanted = true;
        std::int64_t first = 0;
        for (std::int64_t t = 0; t < tiles_; ++t) {
            const auto tile = static_cast<TileId>(t);
            const std::int64_t elements = units_of(t) * workload_.unit_elements();
            a.pieces.push_back(graph::run_of(tile, {arrays.a}, 0, elements, type()));
            b.pieces.push_back(graph::run_of(tile, {arrays.b}, 0, elements, type()));
            const std::int64_t results = reads() ? sums / 4 : elements;
            c.pieces.push_back(graph::run_of(tile, {arrays.c}, first, results, type()));
            first += results;
        }
        graph.add_tensor(std::move(a));
        if (uses_b()) {
            graph.add_tensor(std::move(b));
        }
        graph.add_tensor(std::move(c));
    }

    [[nodiscard]] std::vector<graph::Step> add_steps(graph::Graph& graph,
                                                     const Arrays& arrays) const {
        const char* op = name_of(workload_.op);
        if (workload_.codelet != StreamCodelet::Vendor) {
            return {add_step(graph, op, op, name_of(workload_.codelet), arrays)};
        }
        if (has_product()) {
            return {
                add_step(graph, kMultiply, "scale", "vector", {arrays.b, {}, arrays.product, {}}),
                add_step(graph, kAdd, "add", "vector", {arrays.a, arrays.product, arrays.c, {}})};
        }
        return {add_step(graph, op, op, "vector", arrays)};
    }

    graph::Step add_step(graph::Graph& graph, const std::string& name, const std::string& op,
                         const std::string& way, const Arrays& arrays) const {
        const std::string symbol = fmt::format("stream_{}_{}_{}", op, way,
                                               workload_.dtype == ElementType::F16 ? "f16" : "f32");
        const bool two = op == "add" || op == "triad";
        const std::int64_t workers = machine_.tile.workers;
        const auto set = graph.add_compute_set({name, program::Role::Work, kOwner});
        for (std::int64_t t = 0; t < tiles_ * cuts_; ++t) {
            const std::int64_t tile = t / cuts_;
            const std::int64_t cut = t % cuts_;
            const std::int64_t units = first_of(tile, cut + 1) - first_of(tile, cut);
            const Bytes from = first_of(tile, cut) * kUnitBytes;
            const Bytes bytes = units * kUnitBytes;
            const Bytes to = reads() ? cut * sums_bytes() / cuts_ : from;
            graph.add_vertex(set, static_cast<TileId>(tile), symbol,
                             program::VertexKind::MultiWorker,
                             {graph::read({arrays.a, from}, bytes),
                              two ? graph::read({arrays.b, from}, bytes) : graph::word(0),
                              graph::write({arrays.c, to}, reads() ? sums_bytes() / cuts_ : bytes),
                              graph::word(units / workers), graph::word(units % workers),
                              graph::word(scale_word())});
        }
        return graph::run(set);
    }

    /// FP32; or FP16 with 1 behind it, which is what a mix of two arrays multiplies the other with.
    [[nodiscard]] std::uint32_t scale_word() const {
        return workload_.dtype == ElementType::F32
                   ? std::bit_cast<std::uint32_t>(kScale)
                   : f32_to_f16(kScale) | static_cast<std::uint32_t>(f32_to_f16(1)) << 16U;
    }

    spec::MachineSpec machine_;
    MemoryStreamWorkload workload_;
    std::int64_t tiles_;
    std::int64_t units_;
    std::int64_t cuts_; ///< vertices one after the other that share a tile's arrays
};

} // namespace

Emitted emit(const spec::MachineSpec& machine, const MemoryStreamWorkload& workload) {
    const StreamGraph made(machine, workload);
    Emitted emitted{made.graph(fmt::format("STREAM {} of {} {} elements, {} loop, {} times",
                                           name_of(workload.op), workload.elements,
                                           workload.dtype == ElementType::F16 ? "f16" : "f32",
                                           name_of(workload.codelet), workload.repeats)),
                    [made] {
                        Values values{{{program::tensor(0), made.operand(value_of_a)}}, {}};
                        if (made.uses_b()) {
                            values.given.push_back({program::tensor(1), made.operand(value_of_b)});
                        }
                        values.expected = {{program::tensor(values.given.size()), made.expected()}};
                        return values;
                    }};
    emitted.useful_bytes = made.useful_bytes();
    return emitted;
}

} // namespace tessera::micro

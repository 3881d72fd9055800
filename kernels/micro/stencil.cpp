// SPDX-License-Identifier: MIT
#include "base/float16.h"
#include "kernels/micro/micro_builder.h"
#include "kernels/micro/micro_plan.h"
#include "kernels/micro/stencil_image.h"
#include "models/program/pointer_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace tessera::micro {
namespace {

using workload::StencilType;
using workload::StencilWorkload;

/// How the codelet's table says where a tap is: in bytes from its window.
constexpr auto kTapOffset = program::PointerFormat::Scaled16;
constexpr Bytes kLongestOffset = program::largest_offset(kTapOffset);

/// The four edges of a part, in the order in which they stand in the buffers of halos: rows first.
enum Edge : std::size_t { kTop, kBottom, kLeft, kRight };
struct Direction {
    std::int64_t dx;
    std::int64_t dy;
};
constexpr std::array<Direction, 4> kToEdge{{{0, -1}, {0, 1}, {-1, 0}, {1, 0}}};
constexpr std::array<Edge, 4> kOpposite{kBottom, kTop, kRight, kLeft};

const char* name_of(StencilType type) {
    switch (type) {
    case StencilType::Half4:
        return "half4";
    case StencilType::Float2:
        return "float2";
    case StencilType::Float:
        break;
    }
    return "float";
}

PartGrid grid_of(const spec::MachineSpec& machine, const StencilWorkload& workload) {
    if (workload.grid_columns == 0) {
        return choose_grid(workload.width, workload.height, machine.chip.tiles);
    }
    const PartGrid grid{workload.grid_columns, workload.grid_rows, workload.width, workload.height};
    if (grid.parts() > machine.chip.tiles || grid.columns > grid.width || grid.rows > grid.height) {
        throw wrong_value(
            "grid_columns",
            fmt::format("got a grid of {} x {} tiles, expected at most {} tiles on machine '{}' "
                        "and a pixel for each of them",
                        grid.columns, grid.rows, machine.chip.tiles, machine.name));
    }
    return grid;
}

class StencilPlanner {
public:
    StencilPlanner(const spec::MachineSpec& machine, const StencilWorkload& workload)
        : machine_(machine), workload_(workload), grid_(grid_of(machine, workload)),
          pixel_bytes_(kChannels * bytes_of(type())),
          row_bytes_((grid_.widest() + 2) * pixel_bytes_),
          rounds_of_pixel_(workload.dtype == StencilType::Float ? kChannels : 1) {}

    [[nodiscard]] program::Program program(const std::string& name) const {
        BuildRequest request;
        request.name = name;
        request.codelets = {"blur", "rearrange_strided"};
        request.state_bytes = most_state_bytes();
        auto program =
            build_program(machine_, request, [&](MicroBuilder& builder) { fill(builder); });
        repeat_steps(program.control);
        return program;
    }
    [[nodiscard]] ElementType type() const {
        return workload_.dtype == StencilType::Half4 ? ElementType::F16 : ElementType::F32;
    }
    [[nodiscard]] const PartGrid& grid() const { return grid_; }

private:
    /// Two iterations stand in the program where there are two or more: there and back between the
    /// fields.
    [[nodiscard]] std::size_t iterations_in_program() const {
        return workload_.iterations > 1 ? 2 : 1;
    }

    void repeat_steps(program::Step& control) const {
        const std::size_t steps = control.children.size() / iterations_in_program();
        program::Step repeat = std::move(control);
        repeat.count = static_cast<std::uint32_t>(
            workload_.iterations / static_cast<std::int64_t>(iterations_in_program()));
        control = {};
        control.children.push_back(repeat);
        if (iterations_in_program() == 2 && workload_.iterations % 2 == 1) {
            control.children.insert(control.children.end(), repeat.children.begin(),
                                    repeat.children.begin() + static_cast<std::ptrdiff_t>(steps));
        }
    }

    [[nodiscard]] Bytes most_state_bytes() const {
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t blur = 2 + 2 * workers + 3 * (grid_.highest() + workers);
        const std::int64_t copies = 2 * 4 * 5;
        return static_cast<Bytes>(iterations_in_program()) * 4 * (blur + copies);
    }

    [[nodiscard]] TileId tile_of(std::int64_t column, std::int64_t row) const {
        return static_cast<TileId>(row * grid_.columns + column);
    }
    [[nodiscard]] bool has_part(std::int64_t column, std::int64_t row) const {
        return column >= 0 && column < grid_.columns && row >= 0 && row < grid_.rows;
    }

    /// Where an edge begins in a buffer of halos; the last entry is the buffer's end.
    [[nodiscard]] Bytes edge_offset(std::size_t edge) const {
        const Bytes across = grid_.widest() * pixel_bytes_;
        const Bytes along = grid_.highest() * pixel_bytes_;
        return static_cast<Bytes>(std::min<std::size_t>(edge, 2)) * across +
               (edge > 2 ? static_cast<Bytes>(edge - 2) * along : 0);
    }
    static std::int64_t edge_pixels(std::size_t edge, const Part& part) {
        return edge <= kBottom ? part.width : part.height;
    }
    /// Where a pixel stands in a padded field; the part's own begin at (0, 0).
    [[nodiscard]] Address pixel(Address field, std::int64_t x, std::int64_t y) const {
        return field + static_cast<Address>((y + 1) * row_bytes_ + (x + 1) * pixel_bytes_);
    }
    /// The part's pixels along an edge; `outside` those of its halo.
    [[nodiscard]] rearrange::Row edge_row(Address field, std::size_t edge, const Part& part,
                                          bool outside) const {
        const std::int64_t out = outside ? 1 : 0;
        switch (edge) {
        case kTop:
            return {pixel(field, 0, -out), pixel_bytes_};
        case kBottom:
            return {pixel(field, 0, part.height - 1 + out), pixel_bytes_};
        case kLeft:
            return {pixel(field, -out, 0), row_bytes_};
        default:
            return {pixel(field, part.width - 1 + out, 0), row_bytes_};
        }
    }

    template <class Visit> void for_parts(const Visit& visit) const {
        for (std::int64_t row = 0; row < grid_.rows; ++row) {
            for (std::int64_t column = 0; column < grid_.columns; ++column) {
                visit(column, row, tile_of(column, row), grid_.part(column, row));
            }
        }
    }

    void fill(MicroBuilder& builder) const {
        using program::SegmentKind;
        const Bytes field = (grid_.highest() + 2) * row_bytes_;
        const Bytes halos = edge_offset(4);
        const auto apart = [](const char* name, Bytes bytes) {
            auto buffer = tensor_buffer(name, bytes);
            buffer.apart_from = {"send"};
            return buffer;
        };
        auto offsets = tensor_buffer("taps", taps_bytes());
        offsets.kind = SegmentKind::Metadata;
        // All are kept: fields begin with zero halos, which only the neighbours' edges change.
        builder.place({offsets, tensor_buffer("send", halos), apart("receive", halos),
                       apart("field 0", field), apart("field 1", field)},
                      {});
        if (2 * row_bytes_ + 2 * pixel_bytes_ > kLongestOffset) {
            throw NotModelled(fmt::format(
                "stencil {} x {}: not modelled: parts of {} pixels a row, expected windows of at "
                "most {} B; see docs/kernels/micro.md",
                grid_.width, grid_.height, grid_.widest(), kLongestOffset));
        }
        const auto table = std::make_shared<const std::vector<std::byte>>(taps());
        const std::array<Address, 2> fields{builder.address("field 0"), builder.address("field 1")};
        for_parts([&](std::int64_t, std::int64_t, TileId tile, const Part&) {
            builder.hold_bytes(tile, "taps", table);
            builder.hold(tile, "send", halos);
            builder.hold(tile, "receive", halos);
            builder.hold(tile, "field 0", field);
            builder.hold(tile, "field 1", field);
        });
        for (std::size_t from = 0; from < iterations_in_program(); ++from) {
            add_halo(builder, fields.at(from));
            add_blur(builder, fields.at(from), fields.at(1 - from));
        }
        builder.add_tensor(image_tensor("image", fields[0]));
        builder.add_tensor(
            image_tensor("blurred", fields.at(static_cast<std::size_t>(workload_.iterations % 2))));
    }

    /// What the codelet's table holds: offsets, then weights.
    [[nodiscard]] std::vector<std::byte> taps() const {
        std::vector<std::byte> bytes(static_cast<std::size_t>(taps_bytes()));
        for (std::size_t tap = 0; tap < kTaps; ++tap) {
            const auto across = static_cast<Bytes>(tap % 3) * pixel_bytes_;
            const Bytes down = static_cast<Bytes>(tap / 3) * row_bytes_;
            const auto offset = static_cast<std::uint16_t>(
                program::pack_pointer(kTapOffset, {.address = down + across}, "table of taps"));
            std::memcpy(bytes.data() + 2 * tap, &offset, 2);
            const std::uint16_t half = f32_to_f16(kWeights.at(tap));
            if (type() == ElementType::F16) {
                std::memcpy(bytes.data() + weights_offset() + 2 * tap, &half, 2);
            } else {
                std::memcpy(bytes.data() + weights_offset() + 4 * tap, &kWeights.at(tap), 4);
            }
        }
        return bytes;
    }
    [[nodiscard]] Bytes taps_bytes() const {
        return static_cast<Bytes>(weights_offset() + kTaps * bytes_of(type()));
    }
    static constexpr std::size_t weights_offset() { return (2 * kTaps + 3) / 4 * 4; }

    void add_halo(MicroBuilder& builder, Address field) const {
        const Address send = builder.address("send");
        const Address receive = builder.address("receive");
        Vertices gather = builder.no_vertices();
        Vertices scatter = builder.no_vertices();
        // All messages of one direction, then all of the next: every tile sends and receives at
        // once, and the exchange is planned in the order given.
        std::array<std::vector<program::Transfer>, 8> by_direction;
        for_parts([&](std::int64_t column, std::int64_t row, TileId tile, const Part& part) {
            for (std::size_t edge = kTop; edge <= kRight; ++edge) {
                const auto [dx, dy] = kToEdge.at(edge);
                if (!has_part(column + dx, row + dy)) {
                    continue;
                }
                const auto at = static_cast<Address>(edge_offset(edge));
                const std::int64_t pixels = edge_pixels(edge, part);
                gather[tile].push_back(builder.rearrange(
                    tile, rearrange::strided(edge_row(field, edge, part, false),
                                             {send + at, pixel_bytes_}, pixels, pixel_bytes_)));
                scatter[tile].push_back(
                    builder.rearrange(tile, rearrange::strided({receive + at, pixel_bytes_},
                                                               edge_row(field, edge, part, true),
                                                               pixels, pixel_bytes_)));
                const auto there = static_cast<Address>(edge_offset(kOpposite.at(edge)));
                by_direction.at(edge).push_back(
                    {tile,
                     send + at,
                     pixels * pixel_bytes_,
                     false,
                     {{tile_of(column + dx, row + dy), receive + there}}});
            }
            add_corners(by_direction, column, row, part, field, send);
        });
        std::vector<program::Transfer> transfers;
        for (auto& messages : by_direction) {
            transfers.insert(transfers.end(), messages.begin(), messages.end());
        }
        builder.add_compute_set("halo pre", std::move(gather));
        builder.add_exchange("halo exchange", std::move(transfers));
        builder.add_compute_set("halo post", std::move(scatter));
    }

    /// A corner's pixel goes from the copied row that ends with it straight into the other's halo.
    void add_corners(std::array<std::vector<program::Transfer>, 8>& by_direction,
                     std::int64_t column, std::int64_t row, const Part& part, Address field,
                     Address send) const {
        std::size_t direction = kRight;
        for (const std::int64_t dy : {-1, 1}) {
            for (const std::int64_t dx : {-1, 1}) {
                ++direction;
                if (!has_part(column + dx, row + dy)) {
                    continue;
                }
                const Part other = grid_.part(column + dx, row + dy);
                const Bytes from = edge_offset(dy < 0 ? kTop : kBottom) +
                                   (dx < 0 ? 0 : part.width - 1) * pixel_bytes_;
                const Address to =
                    pixel(field, dx < 0 ? other.width : -1, dy < 0 ? other.height : -1);
                by_direction.at(direction).push_back({tile_of(column, row),
                                                      send + static_cast<Address>(from),
                                                      pixel_bytes_,
                                                      false,
                                                      {{tile_of(column + dx, row + dy), to}}});
            }
        }
    }

    void add_blur(MicroBuilder& builder, Address from, Address to) const {
        const std::string symbol = std::string("blur_") + name_of(workload_.dtype);
        Vertices vertices = builder.no_vertices();
        for_parts([&](std::int64_t, std::int64_t, TileId tile, const Part& part) {
            const std::int64_t workers = machine_.tile.workers;
            std::vector<Address> lists;
            for (std::int64_t w = 0; w < workers; ++w) {
                lists.push_back(add_list(builder, tile, part, w, from, to));
            }
            const Address taps = builder.address("taps");
            std::vector<std::uint32_t> state{taps, taps + static_cast<Address>(weights_offset())};
            state.insert(state.end(), lists.begin(), lists.end());
            vertices[tile].push_back(builder.workers(tile, symbol, state));
        });
        builder.add_compute_set("blur", std::move(vertices));
    }

    /// The rows of pixels of worker `w`, who has as many pixels as the others, or one more. Returns
    /// where its list stands.
    [[nodiscard]] Address add_list(MicroBuilder& builder, TileId tile, const Part& part,
                                   std::int64_t w, Address from, Address to) const {
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t pixels = part.width * part.height;
        std::int64_t at = pixels * w / workers;
        const std::int64_t end = pixels * (w + 1) / workers;
        std::vector<std::uint32_t> list{0};
        while (at < end) {
            const std::int64_t x = at % part.width;
            const std::int64_t y = at / part.width;
            const std::int64_t count = std::min(part.width - x, end - at);
            list.push_back(pixel(from, x - 1, y - 1));
            list.push_back(pixel(to, x, y));
            list.push_back(static_cast<std::uint32_t>(count * rounds_of_pixel_ - 1));
            at += count;
        }
        list[0] = static_cast<std::uint32_t>(list.size() / 3) - 1U;
        return builder.state(tile, list);
    }

    [[nodiscard]] program::Tensor image_tensor(const std::string& name, Address field) const {
        program::Tensor tensor;
        tensor.name = name;
        tensor.type = type();
        tensor.shape = {grid_.height, grid_.width, kChannels};
        for_parts([&](std::int64_t, std::int64_t, TileId tile, const Part& part) {
            program::Piece piece;
            piece.tile = tile;
            piece.address = pixel(field, 0, 0);
            piece.host_offset = (part.top * grid_.width + part.left) * kChannels;
            piece.dims.push_back({part.height, grid_.width * kChannels, row_bytes_});
            piece.dims.push_back({part.width * kChannels, 1, bytes_of(type())});
            tensor.pieces.push_back(std::move(piece));
        });
        return tensor;
    }

    const spec::MachineSpec& machine_;
    const StencilWorkload& workload_;
    PartGrid grid_;
    Bytes pixel_bytes_;
    Bytes row_bytes_;
    std::int64_t rounds_of_pixel_;
};

} // namespace

MicroPlan plan(const spec::MachineSpec& machine, const StencilWorkload& workload) {
    const StencilPlanner planner(machine, workload);
    const bool f16 = planner.type() == ElementType::F16;
    MicroPlan plan;
    plan.sentence = fmt::format("blur of {} x {} pixels, {}, {} times", workload.width,
                                workload.height, name_of(workload.dtype), workload.iterations);
    plan.program = planner.program(plan.sentence);
    auto image = first_image(workload.width, workload.height);
    plan.operands.push_back({"image", image_bytes(image, f16)});
    plan.expected.push_back(
        {"blurred", image_bytes(blurred(std::move(image), workload.width, workload.height,
                                        workload.iterations, f16),
                                f16)});
    plan.useful_bytes =
        2 * static_cast<Bytes>(plan.operands.front().bytes.size()) * workload.iterations;
    plan.choices = {{"grid_columns", planner.grid().columns}, {"grid_rows", planner.grid().rows}};
    return plan;
}

} // namespace tessera::micro

// SPDX-License-Identifier: MIT
#include "kernels/micro/limits.h"
#include "kernels/micro/micro.h"
#include "kernels/micro/stencil_image.h"
#include "kernels/rearrange/rearrange.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::micro {
namespace {

using workload::StencilType;
using workload::StencilWorkload;

constexpr const char* kOwner = "stencil";

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
                        "(chip.tiles) and a pixel for each of them",
                        grid.columns, grid.rows, machine.chip.tiles, machine.name));
    }
    return grid;
}

class StencilGraph {
public:
    StencilGraph(const spec::MachineSpec& machine, const StencilWorkload& workload)
        : machine_(machine), workload_(workload), grid_(grid_of(machine, workload)),
          pixel_bytes_(kChannels * bytes_of(type())),
          row_bytes_((grid_.widest() + 2) * pixel_bytes_),
          rounds_of_pixel_(workload.dtype == StencilType::Float ? kChannels : 1) {}

    [[nodiscard]] ElementType type() const {
        return workload_.dtype == StencilType::Half4 ? ElementType::F16 : ElementType::F32;
    }
    [[nodiscard]] const PartGrid& grid() const { return grid_; }
    [[nodiscard]] Bytes image_size() const { return grid_.width * grid_.height * pixel_bytes_; }
    [[nodiscard]] graph::Graph graph(const std::string& name) const {
        graph::Graph graph(name);
        graph.codelets = {"blur", "rearrange_strided"};
        const Buffers buffers = add_buffers(graph);
        std::vector<graph::Step> iterations;
        for (std::size_t from = 0; from < iterations_in_program(); ++from) {
            auto steps = add_halo(graph, buffers, buffers.fields.at(from));
            steps.push_back(add_blur(graph, buffers.fields.at(from), buffers.fields.at(1 - from)));
            iterations.push_back(graph::sequence(std::move(steps)));
        }
        graph.control = control(iterations);
        auto image = image_tensor("image", buffers.fields[0]);
        auto blurred = image_tensor(
            "blurred", buffers.fields.at(static_cast<std::size_t>(workload_.iterations % 2)));
        image.given = true;
        blurred.wanted = true;
        graph.add_tensor(std::move(image));
        graph.add_tensor(std::move(blurred));
        return graph;
    }

private:
    /// Two iterations stand in the program where there are two or more: there and back between the
    /// fields.
    [[nodiscard]] std::size_t iterations_in_program() const {
        return workload_.iterations > 1 ? 2 : 1;
    }

    /// There and back as often as it goes, and there once more where that is odd.
    [[nodiscard]] graph::Step control(const std::vector<graph::Step>& iterations) const {
        const auto count = static_cast<std::int64_t>(iterations.size());
        std::vector<graph::Step> steps{graph::repeat(workload_.iterations / count, iterations)};
        if (workload_.iterations % count != 0) {
            steps.push_back(iterations.front());
        }
        return graph::sequence(std::move(steps));
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
    [[nodiscard]] graph::Place pixel(graph::BufferId field, std::int64_t x, std::int64_t y) const {
        return {field, (y + 1) * row_bytes_ + (x + 1) * pixel_bytes_};
    }
    /// The part's pixels along an edge; `outside` those of its halo.
    [[nodiscard]] rearrange::Row edge_row(graph::BufferId field, std::size_t edge, const Part& part,
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

    struct Buffers {
        graph::BufferId send;
        graph::BufferId receive;
        std::array<graph::BufferId, 2> fields;
    };

    /// All are kept: fields begin with zero halos, which only the neighbours' edges change.
    [[nodiscard]] Buffers add_buffers(graph::Graph& graph) const {
        const Bytes field = (grid_.highest() + 2) * row_bytes_;
        const Bytes halos = edge_offset(4);
        Buffers buffers;
        buffers.send = graph.add_buffer({.name = "send", .zeroed = true});
        const auto zeroed = [&](const char* name) {
            return graph.add_buffer({.name = name, .zeroed = true, .apart = {buffers.send}});
        };
        buffers.receive = zeroed("receive");
        buffers.fields = {zeroed("field 0"), zeroed("field 1")};
        for_parts([&](std::int64_t, std::int64_t, TileId tile, const Part&) {
            graph.hold(buffers.send, tile, halos);
            graph.hold(buffers.receive, tile, halos);
            graph.hold(buffers.fields[0], tile, field);
            graph.hold(buffers.fields[1], tile, field);
        });
        return buffers;
    }

    struct Message {
        TileId tile;
        graph::Place from;
        Bytes bytes;
        graph::Receiver to;
    };
    /// All messages of one direction, then all of the next: every tile sends and receives at once,
    /// and the exchange is planned in the order given.
    using Messages = std::array<std::vector<Message>, 8>;

    [[nodiscard]] std::vector<graph::Step> add_halo(graph::Graph& graph, const Buffers& buffers,
                                                    graph::BufferId field) const {
        const auto gather = graph.add_compute_set({"halo pre", program::Role::Rearrange, kOwner});
        const auto exchange = graph.add_exchange({"halo exchange", program::Role::Bring, kOwner});
        const auto scatter = graph.add_compute_set({"halo post", program::Role::Rearrange, kOwner});
        Messages messages;
        for_parts([&](std::int64_t column, std::int64_t row, TileId tile, const Part& part) {
            for (std::size_t edge = kTop; edge <= kRight; ++edge) {
                const auto [dx, dy] = kToEdge.at(edge);
                if (!has_part(column + dx, row + dy)) {
                    continue;
                }
                const graph::Place send{buffers.send, edge_offset(edge)};
                const graph::Place receive{buffers.receive, edge_offset(edge)};
                const std::int64_t pixels = edge_pixels(edge, part);
                rearrange::add(graph, gather, tile,
                               {rearrange::strided(edge_row(field, edge, part, false),
                                                   {send, pixel_bytes_}, pixels, pixel_bytes_)});
                rearrange::add(
                    graph, scatter, tile,
                    {rearrange::strided({receive, pixel_bytes_}, edge_row(field, edge, part, true),
                                        pixels, pixel_bytes_)});
                messages.at(edge).push_back({tile,
                                             send,
                                             pixels * pixel_bytes_,
                                             {tile_of(column + dx, row + dy),
                                              {buffers.receive, edge_offset(kOpposite.at(edge))}}});
            }
            add_corners(messages, column, row, part, field, buffers.send);
        });
        for (const auto& direction : messages) {
            for (const Message& message : direction) {
                graph.add_message(exchange, message.tile, message.from, message.bytes, message.to);
            }
        }
        return {graph::run(gather), graph::run(exchange), graph::run(scatter)};
    }

    /// A corner's pixel goes from the copied row that ends with it straight into the other's halo.
    void add_corners(Messages& messages, std::int64_t column, std::int64_t row, const Part& part,
                     graph::BufferId field, graph::BufferId send) const {
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
                messages.at(direction).push_back(
                    {tile_of(column, row),
                     {send, from},
                     pixel_bytes_,
                     {tile_of(column + dx, row + dy),
                      pixel(field, dx < 0 ? other.width : -1, dy < 0 ? other.height : -1)}});
            }
        }
    }

    graph::Step add_blur(graph::Graph& graph, graph::BufferId from, graph::BufferId to) const {
        const std::string symbol = std::string("blur_") + name_of(workload_.dtype);
        const auto set = graph.add_compute_set({"blur", program::Role::Work, kOwner});
        for_parts([&](std::int64_t, std::int64_t, TileId tile, const Part& part) {
            std::vector<graph::Field> state{graph::word(row_bytes_)};
            for (std::int64_t w = 0; w < machine_.tile.workers; ++w) {
                state.push_back(graph::table(add_list(graph, tile, part, w, from, to)));
            }
            graph.add_vertex(set, tile, symbol, program::VertexKind::MultiWorker, state);
        });
        return graph::run(set);
    }

    /// The rows of pixels of worker `w`, who has as many pixels as the others, or one more.
    [[nodiscard]] graph::TableId add_list(graph::Graph& graph, TileId tile, const Part& part,
                                          std::int64_t w, graph::BufferId from,
                                          graph::BufferId to) const {
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t pixels = part.width * part.height;
        std::int64_t at = pixels * w / workers;
        const std::int64_t end = pixels * (w + 1) / workers;
        std::vector<graph::Field> list(1); // how many there are
        while (at < end) {
            const std::int64_t x = at % part.width;
            const std::int64_t y = at / part.width;
            const std::int64_t count = std::min(part.width - x, end - at);
            // windows of three rows
            list.push_back(graph::read(pixel(from, x - 1, y - 1),
                                       2 * row_bytes_ + (count + 2) * pixel_bytes_));
            list.push_back(graph::write(pixel(to, x, y), count * pixel_bytes_));
            list.push_back(graph::word(count * rounds_of_pixel_ - 1));
            at += count;
        }
        list[0] = graph::word(static_cast<std::int64_t>(list.size() / 3) - 1);
        return graph.add_table(tile, list);
    }

    [[nodiscard]] graph::Tensor image_tensor(const std::string& name, graph::BufferId field) const {
        graph::Tensor tensor;
        tensor.name = name;
        tensor.type = type();
        tensor.shape = {grid_.height, grid_.width, kChannels};
        for_parts([&](std::int64_t, std::int64_t, TileId tile, const Part& part) {
            graph::Piece piece;
            piece.tile = tile;
            piece.place = pixel(field, 0, 0);
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

Emitted emit(const spec::MachineSpec& machine, const StencilWorkload& workload) {
    const StencilGraph made(machine, workload);
    const bool f16 = made.type() == ElementType::F16;
    Emitted emitted{
        made.graph(fmt::format("blur of {} x {} pixels, {}, {} times", workload.width,
                               workload.height, name_of(workload.dtype), workload.iterations)),
        [workload, f16] {
            auto image = first_image(workload.width, workload.height);
            auto bytes = image_bytes(image, f16);
            auto after = image_bytes(blurred(std::move(image), workload.width, workload.height,
                                             workload.iterations, f16),
                                     f16);
            return Values{{{program::tensor(0), std::move(bytes)}},
                          {{program::tensor(1), std::move(after)}}};
        }};
    emitted.useful_bytes = 2 * made.image_size() * workload.iterations;
    emitted.choices = {{"grid_columns", made.grid().columns}, {"grid_rows", made.grid().rows}};
    return emitted;
}

} // namespace tessera::micro

// SPDX-License-Identifier: MIT
#include "kernels/lower/state.h"

#include "kernels/lower/uses.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::lower {
namespace {

using graph::Field;

/// The state of one graph as it grows.
class Layout {
public:
    Layout(graph::Graph& graph, std::span<const std::uint32_t> last_runs)
        : graph_(graph), last_runs_(last_runs), last_of_table_(graph.tables.size()),
          is_placed_(graph.tables.size()) {
        state_.of_table.resize(graph.tables.size());
    }

    State take() {
        // a table goes when the last of those that point to it does
        for_each_vertex([&](const graph::Vertex& vertex, std::uint32_t last) {
            keep_tables(vertex.fields, last);
        });
        for_each_vertex([&](const graph::Vertex& vertex, std::uint32_t last) {
            place_tables(vertex.fields);
            state_.of_vertex.push_back(place(vertex.tile, vertex.fields, last));
        });
        for (std::uint32_t set = 0, first = 0; set < graph_.compute_sets.size(); ++set) {
            state_.first_vertex.push_back(first);
            first += static_cast<std::uint32_t>(graph_.compute_sets[set].vertices.size());
        }
        for (const auto& [last, group] : groups_) {
            for (TileId tile = 0; tile < group.bytes.size(); ++tile) {
                graph_.hold(group.buffer, tile, group.bytes[tile]);
            }
        }
        return std::move(state_);
    }

private:
    /// What goes behind one step.
    struct Group {
        graph::BufferId buffer;
        std::vector<Bytes> bytes; ///< by tile
    };

    template <class Visit> void for_each_vertex(Visit visit) const {
        for (std::uint32_t set = 0; set < graph_.compute_sets.size(); ++set) {
            const std::uint32_t last = last_runs_[number_of(graph_, graph::ComputeSetId{set})];
            for (const graph::Vertex& vertex : graph_.compute_sets[set].vertices) {
                visit(vertex, last);
            }
        }
    }

    void keep_tables(graph::Fields fields, std::uint32_t last) {
        for (const Field& field : graph_.fields_of(fields)) {
            if (field.kind == Field::Kind::Table) {
                auto& of_table = last_of_table_.at(field.word);
                of_table = std::max(of_table, last);
                keep_tables(graph_.tables[field.word].fields, last);
            }
        }
    }

    void place_tables(graph::Fields fields) {
        for (const Field& field : graph_.fields_of(fields)) {
            if (field.kind == Field::Kind::Table && !is_placed_.at(field.word)) {
                is_placed_[field.word] = true;
                const graph::Table& table = graph_.tables[field.word];
                place_tables(table.fields);
                state_.of_table[field.word] =
                    place(table.tile, table.fields, last_of_table_[field.word]);
            }
        }
    }

    graph::Place place(TileId tile, graph::Fields fields, std::uint32_t last) {
        const auto all = graph_.fields_of(fields);
        const auto words = std::count_if(all.begin(), all.end(), [](const Field& field) {
            return field.kind != Field::Kind::Use;
        });
        Group& group = group_of(last);
        while (tile >= group.bytes.size()) {
            group.bytes.emplace_back();
        }
        Bytes& used = group.bytes[tile];
        return {group.buffer, std::exchange(used, used + kStateWordBytes * words)};
    }

    Group& group_of(std::uint32_t last) {
        const auto [entry, is_new] = groups_.try_emplace(last);
        if (is_new) {
            entry->second.buffer = graph_.add_buffer({.name = "vertex state",
                                                      .kind = program::SegmentKind::VertexState,
                                                      .alignment = 16});
            state_.buffers.push_back(entry->second.buffer);
            state_.lifetimes.push_back({0, last});
        }
        return entry->second;
    }

    graph::Graph& graph_;
    std::span<const std::uint32_t> last_runs_;
    std::vector<std::uint32_t> last_of_table_;
    std::vector<bool> is_placed_;
    std::map<std::uint32_t, Group> groups_; ///< by the last step that needs them
    State state_;
};

} // namespace

State lay_out_state(graph::Graph& graph, std::span<const std::uint32_t> last_runs) {
    return Layout(graph, last_runs).take();
}

} // namespace tessera::lower

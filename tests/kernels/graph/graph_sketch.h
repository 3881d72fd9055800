// SPDX-License-Identifier: MIT
// Small graphs for tests, and what is wrong with them.
#pragma once

#include "base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/lower/lifetimes.h"
#include "kernels/lower/uses.h"

#include <catch2/catch.hpp>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// A graph whose control program is the steps in the order of adding.
struct Sketch {
    graph::Graph graph{"sketch"};

    graph::BufferId buffer(const std::string& name, TileId tile, Bytes bytes) {
        const auto made = graph.add_buffer({.name = name});
        graph.hold(made, tile, bytes);
        return made;
    }
    /// A compute set that is not in the control program yet.
    graph::ComputeSetId set(const std::string& name, TileId tile,
                            std::initializer_list<graph::Field> fields) {
        const auto made = graph.add_compute_set({name, program::Role::Work, "test"});
        vertex(made, tile, fields);
        return made;
    }
    void vertex(graph::ComputeSetId in, TileId tile, std::initializer_list<graph::Field> fields) {
        graph.add_vertex(in, tile, "copy32", program::VertexKind::MultiWorker, fields);
    }
    graph::ComputeSetId step(const std::string& name, TileId tile,
                             std::initializer_list<graph::Field> fields) {
        const auto made = set(name, tile, fields);
        then(graph::run(made));
        return made;
    }
    graph::ExchangeId message(const std::string& name, graph::Receiver from, Bytes bytes,
                              graph::Receiver to) {
        const auto made = graph.add_exchange({name, program::Role::Bring, "test"});
        graph.add_message(made, from.tile, from.to, bytes, to);
        then(graph::run(made));
        return made;
    }
    void then(graph::Step step) { graph.control.children.push_back(std::move(step)); }

    /// The host writes, or reads, the first byte.
    void tensor(graph::BufferId of, TileId tile, bool given, bool wanted) {
        auto made = graph::array_tensor("tensor", ElementType::F16, 1);
        made.given = given;
        made.wanted = wanted;
        made.pieces.push_back(graph::run_of(tile, {of}, 0, 1, ElementType::F16));
        graph.add_tensor(std::move(made));
    }

    [[nodiscard]] std::vector<program::Lifetime> lifetimes() const {
        return lower::lifetimes_of(graph, lower::Uses(graph));
    }
    /// What is wrong with the graph; empty where nothing is.
    [[nodiscard]] std::string fault() const {
        try {
            static_cast<void>(lifetimes());
        } catch (const ProgramError& error) {
            return error.what();
        }
        return "";
    }
};

inline program::SharedBytes shared_bytes(Bytes bytes, int value = 7) {
    return std::make_shared<const std::vector<std::byte>>(static_cast<std::size_t>(bytes),
                                                          static_cast<std::byte>(value));
}

/// One of two ways; without `other`, perhaps the one. Without a word nothing says which.
inline graph::Step either(std::vector<graph::Step> one, std::vector<graph::Step> other,
                          std::optional<graph::TilePlace> word = {}) {
    graph::Step made = graph::when({}, std::move(one), std::move(other));
    made.word = word;
    return made;
}

inline graph::Step as_long_as(std::vector<graph::Step> steps,
                              std::optional<graph::TilePlace> word = {}) {
    graph::Step made = graph::as_long_as({}, std::move(steps));
    made.word = word;
    return made;
}

/// The error names program, step, tile and buffer.
inline void check_names(const std::string& fault, const std::string& step, TileId tile,
                        const std::string& buffer) {
    using Catch::Matchers::Contains;
    CHECK_THAT(fault, Catch::Matchers::StartsWith("program 'sketch': kernel '"));
    CHECK_THAT(fault, Contains(", step '" + step + "', tile " + std::to_string(tile) + ": "));
    CHECK_THAT(fault, Contains("'" + buffer + "'"));
}

} // namespace tessera::test

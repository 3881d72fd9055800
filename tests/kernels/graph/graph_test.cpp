// SPDX-License-Identifier: MIT
#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"
#include "tests/kernels/graph/graph_sketch.h"

#include <string>
#include <vector>

namespace {

using namespace tessera;
using graph::Graph;
using graph::Step;

} // namespace

TEST_CASE("steps are of their kind, number, count and row", "[kernels][graph]") {
    const Step set = graph::run(graph::ComputeSetId{3});
    CHECK((set.kind == Step::Kind::ComputeSet && set.index == 3 && set.children.empty()));
    const Step exchange = graph::run(graph::ExchangeId{4});
    CHECK((exchange.kind == Step::Kind::Exchange && exchange.index == 4));
    const Step loop = graph::repeat(7, {set, exchange});
    CHECK((loop.kind == Step::Kind::Repeat && loop.index == 0 && loop.count == 7));
    CHECK((loop.children.size() == 2 && loop.children[1].index == 4));
    const Step all = graph::sequence({loop});
    CHECK((all.kind == Step::Kind::Sequence && all.index == 0 && all.count == 1));
    for (const auto kind :
         {Step::Kind::StreamCopy, Step::Kind::StreamStart, Step::Kind::StreamWait}) {
        const Step copy = graph::stream(kind, graph::CopyId{2}, 9);
        CHECK((copy.kind == kind && copy.index == 2 && copy.row == 9 && copy.count == 1));
        CHECK_FALSE(copy.word);
    }
}

TEST_CASE("decisions and rows have the word that they go by", "[kernels][graph]") {
    const graph::TilePlace word(5, {graph::BufferId{6}, 8});
    const auto has_word = [](const Step& step) {
        return step.word && step.word->tile == 5 && step.word->buffer.index == 6 &&
               step.word->offset == 8;
    };
    const Step set = graph::run(graph::ComputeSetId{3});
    const Step loop = graph::as_long_as(word, {set, set});
    CHECK((loop.kind == Step::Kind::While && loop.children.size() == 2 && has_word(loop)));
    const Step one_way = graph::when(word, {set, set});
    CHECK((one_way.kind == Step::Kind::If && one_way.children.size() == 1 && has_word(one_way)));
    CHECK(one_way.children[0].children.size() == 2);
    const Step two_ways = graph::when(word, {}, {set});
    REQUIRE(two_ways.children.size() == 2);
    CHECK(two_ways.children[0].children.empty());
    CHECK(two_ways.children[1].children.size() == 1);
    const Step copy = graph::stream(Step::Kind::StreamStart, graph::CopyId{2}, word);
    CHECK((copy.kind == Step::Kind::StreamStart && copy.index == 2 && has_word(copy)));
}

TEST_CASE("symbols and codelets are known once", "[kernels][graph]") {
    Graph graph("test");
    CHECK(graph.symbol_number("one") == 0);
    CHECK(graph.symbol_number("two") == 1);
    CHECK(graph.symbol_number("one") == 0);
    CHECK(graph.symbols == std::vector<std::string>{"one", "two"});
    graph.need_codelet("copy");
    graph.need_codelet("own", "text");
    graph.need_codelet("copy");
    graph.need_codelet("own");
    CHECK(graph.codelets == std::vector<std::string>{"copy", "own"});
    CHECK(graph.own_codelets == std::map<std::string, std::string>{{"own", "text"}});
}

TEST_CASE("a tile holds something or is not told", "[kernels][graph]") {
    Graph graph("test");
    const auto x = graph.add_buffer({.name = "x"});
    graph.hold(x, 1, 0);
    graph.hold(x, 2, test::shared_bytes(0));
    CHECK(graph.buffers[x.index].held.empty());
    graph.hold(x, 3, 1);
    graph.hold(x, 4, test::shared_bytes(1));
    REQUIRE(graph.buffers[x.index].held.size() == 2);
    CHECK(graph.buffers[x.index].held[0].tile == 3);
    CHECK(graph.buffers[x.index].held[0].contents == nullptr);
    CHECK(graph.buffers[x.index].held[1].bytes == 1);
}

TEST_CASE("a graph that is closed has nothing in reserve", "[kernels][graph]") {
    Graph graph("test");
    const auto set = graph.add_compute_set({"set", program::Role::Work, "test"});
    const auto exchange = graph.add_exchange({"exchange", program::Role::Bring, "test"});
    for (int i = 0; i < 5; ++i) {
        graph.add_vertex(set, 0, "entry", program::VertexKind::Worker, {graph::word(i)});
        graph.add_message(exchange, 0, {}, 4, {1, {}});
    }
    const auto tensor = graph.add_tensor(graph::array_tensor("x", ElementType::F16, 2));
    auto& pieces = graph.tensors[tensor.index].pieces;
    pieces.push_back(graph::run_of(0, {}, 0, 2, ElementType::F16));
    pieces.reserve(100);
    graph.fields.reserve(100);
    graph.compute_sets[0].vertices.reserve(100);
    graph.exchanges[0].messages.reserve(100);
    graph.exchanges[0].to.reserve(100);
    graph.close();
    CHECK(graph.fields.capacity() == 5);
    CHECK(graph.compute_sets[0].vertices.capacity() == 5);
    CHECK(graph.exchanges[0].messages.capacity() == 5);
    CHECK(graph.exchanges[0].to.capacity() == 5);
    CHECK(pieces.capacity() == 1);
}

TEST_CASE("a vertex says which bytes of rows it reads, once where they are one run",
          "[kernels][rows]") {
    for (const std::int64_t rows : {1, 2, 3}) {
        for (const Bytes step : {24, 32}) {
            std::vector<graph::Field> state;
            graph::add_row_reads(state, {0, {{5}, 64}, 0, rows, 1, step}, 24);
            const bool together = rows == 1 || step == 24;
            CAPTURE(rows, step);
            REQUIRE(static_cast<std::int64_t>(state.size()) == (together ? 1 : rows));
            for (std::size_t i = 0; i < state.size(); ++i) {
                CHECK(state[i].kind ==
                      (i == 0 ? graph::Field::Kind::Pointer : graph::Field::Kind::Use));
                CHECK(state[i].access == graph::Access::Read);
                CHECK(state[i].place == graph::Place{{5}, 64 + static_cast<Bytes>(i) * step});
                CHECK(state[i].bytes == (together ? rows * 24 : 24));
            }
        }
    }
}

TEST_CASE("one row begins where vertices can read it, whatever its length", "[kernels][rows]") {
    const auto rows_of = [](std::int64_t rows, std::int64_t columns, Bytes offset,
                            Bytes row_bytes) {
        Graph graph("test");
        static_cast<void>(graph.add_buffer({.name = "x"}));
        graph::Tensor x{.name = "x", .type = ElementType::F16, .shape = {rows, columns}};
        x.pieces.push_back({0, {{}, offset}, 0, {{rows, columns, row_bytes}, {columns, 1, 2}}});
        return graph::rows_of(graph, graph.add_tensor(std::move(x)), 8, {0, 1}).has_value();
    };
    for (const Bytes offset : {0, 2, 4, 8}) {
        CHECK(rows_of(1, 5, offset, 16) == (offset % 8 == 0));
        CHECK(rows_of(1, 5, offset, 10) == (offset % 8 == 0)); // its step is of no use
    }
    for (const Bytes row_bytes : {8, 10, 12, 16, 24}) {
        // rows of ten bytes that overlap are none
        CHECK(rows_of(3, 5, 0, row_bytes) == (row_bytes == 16 || row_bytes == 24));
        CHECK(rows_of(3, 8, 0, row_bytes) == (row_bytes == 16 || row_bytes == 24));
    }
}

// SPDX-License-Identifier: MIT
#include "kernels/graph/graph.h"

#include <algorithm>
#include <utility>

namespace tessera::graph {
namespace {

template <class Of> Id<Of> append(std::vector<Of>& all, Of added) {
    all.push_back(std::move(added));
    return {static_cast<std::uint32_t>(all.size() - 1)};
}

Step leaf(Step::Kind kind, std::uint32_t index) {
    Step made;
    made.kind = kind;
    made.index = index;
    return made;
}

} // namespace

BufferId Graph::add_buffer(Buffer traits) {
    return append(buffers, std::move(traits));
}

BufferId Graph::add_buffer(Buffer traits, std::int64_t tiles, Bytes bytes) {
    const BufferId buffer = add_buffer(std::move(traits));
    for (TileId tile = 0; tile < static_cast<TileId>(tiles); ++tile) {
        hold(buffer, tile, bytes);
    }
    return buffer;
}

void Graph::hold(BufferId buffer, TileId tile, Bytes bytes) {
    if (bytes > 0) {
        buffers.at(buffer.index).held.push_back({tile, bytes, nullptr, nullptr});
    }
}

void Graph::hold(BufferId buffer, TileId tile, program::SharedBytes contents,
                 Relocations relocations) {
    if (!contents->empty()) {
        const auto bytes = static_cast<Bytes>(contents->size());
        buffers.at(buffer.index)
            .held.push_back({tile, bytes, std::move(contents), std::move(relocations)});
    }
}

void Graph::need_codelet(std::string_view source) {
    if (std::find(codelets.begin(), codelets.end(), source) == codelets.end()) {
        codelets.emplace_back(source);
    }
}

void Graph::need_codelet(std::string_view source, std::string_view text) {
    need_codelet(source);
    own_codelets.emplace(source, text);
}

TensorId Graph::add_tensor(Tensor tensor) {
    return append(tensors, std::move(tensor));
}

ComputeSetId Graph::add_compute_set(ComputeSet traits) {
    return append(compute_sets, std::move(traits));
}

BufferId Graph::add_round(std::string repeat) {
    return add_buffer({.name = "round of " + std::move(repeat),
                       .kind = program::SegmentKind::Metadata,
                       .alignment = 4});
}

std::uint32_t Graph::symbol_number(std::string_view symbol) {
    const auto known = symbol_numbers_.find(symbol);
    if (known != symbol_numbers_.end()) {
        return known->second;
    }
    const auto number = static_cast<std::uint32_t>(symbols.size());
    symbols.emplace_back(symbol);
    symbol_numbers_.emplace(symbol, number);
    return number;
}

Fields Graph::add_fields(std::span<const Field> added) {
    const Fields run{static_cast<std::uint32_t>(fields.size()),
                     static_cast<std::uint32_t>(added.size())};
    fields.insert(fields.end(), added.begin(), added.end());
    return run;
}

void Graph::add_vertex(ComputeSetId set, TileId tile, std::string_view symbol,
                       program::VertexKind kind, std::span<const Field> state) {
    compute_sets.at(set.index).vertices.push_back(
        {tile, symbol_number(symbol), kind, add_fields(state)});
}

void Graph::add_work(ComputeSetId set, TileId tile, std::int64_t amount) {
    auto& work = compute_sets.at(set.index).work;
    work.resize(std::max<std::size_t>(work.size(), tile + std::size_t{1}));
    work[tile] += amount;
}

void Graph::add_item(ComputeSetId set, TileId tile, const program::WorkItem& item) {
    auto& items = compute_sets.at(set.index).items;
    items.resize(std::max<std::size_t>(items.size(), tile + std::size_t{1}));
    if (item.amount > items[tile].amount) {
        items[tile] = item;
    }
}

TableId Graph::add_table(TileId tile, std::span<const Field> words) {
    return append(tables, Table{tile, add_fields(words)});
}

ExchangeId Graph::add_exchange(Exchange traits) {
    return append(exchanges, std::move(traits));
}

void Graph::add_message(ExchangeId exchange, TileId tile, Place from, Bytes bytes,
                        std::span<const Receiver> to, bool paired) {
    if (to.empty()) {
        return;
    }
    Exchange& of = exchanges.at(exchange.index);
    of.messages.push_back({TilePlace(tile, from), static_cast<std::uint32_t>(bytes),
                           static_cast<std::uint32_t>(of.to.size()),
                           static_cast<std::uint32_t>(to.size()), paired});
    for (const Receiver& receiver : to) {
        of.to.emplace_back(receiver.tile, receiver.to);
    }
}

CopyId Graph::add_stream_copy(StreamCopy copy) {
    return append(stream_copies, std::move(copy));
}

LinkId Graph::add_link_exchange(LinkExchange exchange) {
    return append(link_exchanges, std::move(exchange));
}

void Graph::close() {
    fields.shrink_to_fit();
    for (ComputeSet& set : compute_sets) {
        set.vertices.shrink_to_fit();
    }
    for (Exchange& exchange : exchanges) {
        exchange.messages.shrink_to_fit();
        exchange.to.shrink_to_fit();
    }
    for (Tensor& tensor : tensors) {
        tensor.pieces.shrink_to_fit();
    }
}

Tensor given_tensor(std::string name, ElementType type, std::vector<std::int64_t> shape) {
    return {.name = std::move(name), .type = type, .shape = std::move(shape), .given = true};
}

Tensor wanted_tensor(std::string name, ElementType type, std::vector<std::int64_t> shape) {
    return {.name = std::move(name), .type = type, .shape = std::move(shape), .wanted = true};
}

Tensor array_tensor(const std::string& name, ElementType type, std::int64_t elements) {
    return {.name = name, .type = type, .shape = {elements}};
}

Piece run_of(TileId tile, Place place, std::int64_t first, std::int64_t elements,
             ElementType type) {
    return {tile, place, first, {{elements, 1, bytes_of(type)}}};
}

Step run(ComputeSetId set) {
    return leaf(Step::Kind::ComputeSet, set.index);
}

Step run(ExchangeId exchange) {
    return leaf(Step::Kind::Exchange, exchange.index);
}

Step run(LinkId exchange) {
    return leaf(Step::Kind::LinkExchange, exchange.index);
}

Step sequence(std::vector<Step> steps) {
    Step made;
    made.children = std::move(steps);
    return made;
}

Step in_rounds(const program::SomeRounds& rounds, std::vector<Step> steps) {
    Step made = sequence(std::move(steps));
    made.only = rounds;
    return made;
}

Step repeat(std::int64_t count, std::vector<Step> steps) {
    Step made = leaf(Step::Kind::Repeat, 0);
    made.count = static_cast<std::uint32_t>(count);
    made.children = std::move(steps);
    return made;
}

Step repeat(std::int64_t count, std::vector<Step> steps, BufferId round) {
    Step made = repeat(count, std::move(steps));
    made.rounds.push_back(round);
    return made;
}

Step when(TilePlace word, std::vector<Step> then, std::vector<Step> otherwise) {
    Step made = leaf(Step::Kind::If, 0);
    made.word = word;
    made.children.push_back(sequence(std::move(then)));
    if (!otherwise.empty()) {
        made.children.push_back(sequence(std::move(otherwise)));
    }
    return made;
}

Step as_long_as(TilePlace word, std::vector<Step> steps) {
    Step made = leaf(Step::Kind::While, 0);
    made.word = word;
    made.children = std::move(steps);
    return made;
}

Step stream(Step::Kind kind, CopyId copy, std::int64_t row) {
    Step made = leaf(kind, copy.index);
    made.row = row;
    return made;
}

Step stream_by_round(Step::Kind kind, CopyId copy, std::int64_t row, std::int64_t row_a_round) {
    Step made = stream(kind, copy, row);
    made.row_a_round = row_a_round;
    return made;
}

Step stream(Step::Kind kind, CopyId copy, TilePlace row) {
    Step made = leaf(kind, copy.index);
    made.word = row;
    return made;
}

} // namespace tessera::graph

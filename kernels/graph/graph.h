// SPDX-License-Identifier: MIT
// The interface for kernels: buffers on tiles, vertices with fields, messages, and the control
// program that runs them. A kernel knows no addresses, no layout of vertex state and no exchange
// instructions. kernels/lower determines these. Several kernels may add to one graph.
//
//     Graph graph("twice the sum");
//     const auto x = graph.add_buffer({.name = "x"});
//     graph.hold(x, tile, 64);
//     const auto work = graph.add_compute_set({"sum", Role::Work, "twice the sum"});
//     graph.add_vertex(work, tile, "sum_f32", VertexKind::Worker,
//                      {read({x, 0}, 60), write({x, 60}, 4), word(15), word(0)});
//     graph.control.children = {run(work)};
//
// A graph is plain data in flat pools. A hundred thousand vertices are ordinary. Lowering finds
// errors, such as a field on a tile that does not hold the buffer, or a read of bytes that nothing
// has written.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "models/program/program.h"
#include "models/program/role.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::graph {

template <class Of> struct Id {
    std::uint32_t index = 0;
    friend constexpr bool operator==(const Id&, const Id&) = default;
};
using BufferId = Id<struct Buffer>;
using TensorId = Id<struct Tensor>;
using TableId = Id<struct Table>;
using ComputeSetId = Id<struct ComputeSet>;
using ExchangeId = Id<struct Exchange>;
using CopyId = Id<struct StreamCopy>;
using LinkId = Id<struct LinkExchange>;

/// The memory region in which a buffer must be placed.
enum class Where : std::uint8_t { Any, Region0, Region1 };

/// A word of a buffer's contents that lowering sets to an address. The address is that of a
/// codelet's entry, or of byte `offset` of a buffer.
struct Relocation {
    Bytes at = 0;             ///< offset of the word in the contents
    bool is_symbol = false;   ///< the address of `symbol`, not of `buffer`
    std::uint32_t symbol = 0; ///< index into Graph::symbols
    std::uint32_t buffer = 0;
    Bytes offset = 0;
};
using Relocations = std::shared_ptr<const std::vector<Relocation>>;

/// The part of a buffer that one tile holds.
struct Held {
    TileId tile = 0;
    Bytes bytes = 0;
    program::SharedBytes contents; ///< at the start of the run; null: undefined until written
    Relocations relocations;       ///< addresses in the contents; null: none
};

/// Memory on one or more tiles, each of which holds its own bytes. The address is the same on all
/// of them if one memory plan fits them all.
struct Buffer {
    std::string name;
    program::SegmentKind kind = program::SegmentKind::Tensor;
    Bytes alignment = 16;
    Where where = Where::Any;
    Bytes read_beyond = 0; ///< bytes after the end that codelets may read
    /// Codelets also read the bytes between elements. These are zero unless the host writes them.
    bool padded = false;
    bool zeroed = false; ///< zero at the start; its memory is not reused during the run
    std::vector<BufferId> apart = {}; ///< buffers that may share no memory element with this one
    std::vector<Held> held = {};      ///< filled by hold()
};

/// The bytes of a buffer from `offset` on. The tile is specified separately.
struct Place {
    BufferId buffer;
    Bytes offset = 0;

    [[nodiscard]] constexpr Place operator+(Bytes bytes) const { return {buffer, offset + bytes}; }
    friend constexpr bool operator==(const Place&, const Place&) = default;
};

enum class Access : std::uint8_t {
    Read,
    Write,     ///< writes all of the bytes
    WritePart, ///< writes some of the bytes; the others keep their contents
    Update     ///< reads and writes
};

/// One word of vertex state, or a declared use of memory for which the state has no word.
struct Field {
    enum class Kind : std::uint8_t {
        Word,    ///< the number `word`
        Pointer, ///< the address of `place`
        Table,   ///< the address of the table with number `word`
        Use      ///< no word of state: memory that the codelet reaches through another pointer
    };
    Kind kind = Kind::Word;
    Access access = Access::Read;
    std::uint32_t word = 0;
    Place place = {};
    Bytes bytes = 0;
};

/// Returns a field that holds a 32-bit number.
[[nodiscard]] constexpr Field word(std::int64_t value) {
    return {.kind = Field::Kind::Word, .word = static_cast<std::uint32_t>(value)};
}
[[nodiscard]] constexpr Field pointer(Place place, Bytes bytes, Access access) {
    return {
        .kind = Field::Kind::Pointer, .access = access, .word = 0, .place = place, .bytes = bytes};
}
[[nodiscard]] constexpr Field read(Place place, Bytes bytes) {
    return pointer(place, bytes, Access::Read);
}
[[nodiscard]] constexpr Field write(Place place, Bytes bytes) {
    return pointer(place, bytes, Access::Write);
}
/// Returns a field that points to the iteration number that a repeat stores in `round`.
[[nodiscard]] constexpr Field round_of(BufferId round) {
    return read({round}, 4);
}
[[nodiscard]] constexpr Field use(Place place, Bytes bytes, Access access) {
    return {.kind = Field::Kind::Use, .access = access, .word = 0, .place = place, .bytes = bytes};
}
[[nodiscard]] constexpr Field table(TableId table) {
    return {.kind = Field::Kind::Table, .word = table.index};
}

/// Consecutive fields in Graph::fields.
struct Fields {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// Words to which vertex state points. They are placed with the vertex state of their tile.
struct Table {
    TileId tile = 0;
    Fields fields;
};

/// One call of a codelet. Vertices of one tile and compute set run one after the other.
struct Vertex {
    TileId tile = 0;
    std::uint32_t symbol = 0; ///< index into Graph::symbols
    program::VertexKind kind = program::VertexKind::MultiWorker;
    Fields fields;
};

/// The vertices of all tiles that run between two barriers. Reports group steps by their role
/// (program::Role) and by their owner, which is the kernel that added them. Names are for people.
struct ComputeSet {
    std::string name;
    program::Role role;
    std::string owner;
    std::string work_unit = {}; ///< unit of add_work() in reports: "non-zeros"
    std::string item_word = {}; ///< word for an item of add_item() in reports: "row"
    std::vector<Vertex> vertices = {};
    std::vector<std::int64_t> work = {};       ///< by tile; filled by add_work()
    std::vector<program::WorkItem> items = {}; ///< by tile; filled by add_item()
};

/// A place on a tile. It takes only 12 bytes, because each message and each receiver has one.
struct TilePlace {
    TileId tile = 0;
    BufferId buffer;
    std::uint32_t offset = 0;

    TilePlace() = default;
    TilePlace(TileId on, Place at)
        : tile(on), buffer(at.buffer), offset(static_cast<std::uint32_t>(at.offset)) {}
    [[nodiscard]] Place place() const { return {buffer, Bytes{offset}}; }
};

/// A node of the control program, which is a tree. It is like program::Step, but its words are in
/// buffers instead of at addresses.
///
/// | kind | children | fields |
/// | --- | --- | --- |
/// | Sequence | in order | only |
/// | Repeat | in order, `count` times | count, rounds |
/// | While | in order, as long as the word is not 0; tested before each iteration | word |
/// | If | [0] if the word is not 0, else [1], which may be missing | word |
/// | ComputeSet, Exchange | none | index |
/// | Sync | none | zone |
/// | LinkExchange | none | index |
/// | StreamCopy, StreamStart | none | index, row or word |
/// | StreamWait | none | index |
///
/// A round is one iteration of a repeat; rounds are numbered from 0. A stream copy moves rows of a
/// remote buffer. Its first row is `row + row_a_round * round`, with the round of the innermost
/// repeat around it. On every tile that holds a buffer of `rounds`, its first word is the round. A
/// sequence with `only` is done in these rounds of that repeat.
struct Step {
    using Kind = program::Step::Kind;
    Kind kind = Kind::Sequence;
    std::uint32_t index = 0;
    std::uint32_t count = 1;
    program::SyncZone zone = program::SyncZone::chip();
    std::int64_t row = 0; ///< first row of a stream copy, unless `word` has it
    std::int64_t row_a_round = 0;
    std::vector<BufferId> rounds = {}; ///< made by Graph::add_round()
    std::optional<TilePlace> word;     ///< 32 bits at a multiple of 4, read when the step begins
    std::optional<program::SomeRounds> only = {};
    std::vector<Step> children;
};

struct Message {
    TilePlace from;
    std::uint32_t bytes = 0;
    std::uint32_t first_to = 0; ///< its first receiver: index into Exchange::to
    std::uint32_t receivers = 0;
    bool paired = false; ///< sent at double width; the receivers must be whole tile pairs
};

/// A tile that receives a message, and the place for the bytes there.
struct Receiver {
    TileId tile = 0;
    Place to;
};

struct Exchange {
    std::string name;
    program::Role role;
    std::string owner;
    std::vector<Message> messages = {};
    std::vector<TilePlace> to = {};
};

/// Bytes [offset, offset + bytes) of the rows of a stream copy, and their place on a tile.
struct StreamPiece {
    TileId tile = 0;
    Place place;
    Bytes bytes = 0;
    Bytes offset = 0;
};

/// Words of a tile that say which rows a stream copy reads, like program::RowNumbers.
struct RowNumbers {
    TileId tile = 0;
    Place place; ///< the offset is a multiple of 4
    std::int64_t first = 0;
    std::int64_t count = 1;
    std::int64_t base = 0;
    std::int64_t below = 0;
};

struct StreamCopy {
    std::string name;
    std::string owner;               ///< the kernel; the role is always Role::Stream
    std::uint32_t remote_buffer = 0; ///< index into Graph::remote_buffers
    program::StreamCopy::Direction direction = program::StreamCopy::Direction::Read;
    std::int64_t rows = 1;
    std::vector<StreamPiece> pieces = {};
    /// Empty: the step says which neighbouring rows the copy moves.
    std::vector<RowNumbers> rows_from = {};
};

/// A place that depends on a word of the same tile, like program::LinkIndex.
struct LinkIndex {
    Place word; ///< the offset is a multiple of 4
    std::int64_t sign = 0;
    Bytes stride = 0;
    std::int64_t count = 1;
    std::int64_t shift = 0;
};

/// Bytes of a tile that go to another chip or come from one, like program::LinkMessage.
struct LinkMessage {
    std::uint32_t channel = 0;
    std::uint32_t index = 0;
    TileId tile = 0;
    Place place;
    Bytes bytes = 0;
    std::optional<LinkIndex> indexed = {};
};

/// Messages between this chip and others of its group of a zone. The role is always Role::Link.
struct LinkExchange {
    std::string name;
    std::string owner;
    program::SyncZone zone = program::SyncZone::group(0);
    std::vector<LinkMessage> sends = {};
    std::vector<LinkMessage> receives = {};
};

/// A strided block of a tensor, like program::Piece.
struct Piece {
    TileId tile = 0;
    Place place;
    std::int64_t host_offset = 0; ///< in elements
    std::vector<program::PieceDim> dims;
};

/// The host's view of tile memory, as a row-major array.
struct Tensor {
    std::string name;
    ElementType type = ElementType::F16;
    std::vector<std::int64_t> shape;
    bool given = false;  ///< the host writes it before the run
    bool wanted = false; ///< the host reads it after the run
    /// Control decisions may depend on its elements. Timing mode, which runs without other tensor
    /// data, has them, and copies of them stay known.
    bool known = false;
    std::vector<Piece> pieces = {};
};

/// Holds one program of kernels; see the top of this file. Ids are numbered from 0 in the order of
/// adding. The id of a compute set, exchange or stream copy is the `index` of its Step.
class Graph {
public:
    explicit Graph(std::string program_name) : name(std::move(program_name)) {}

    BufferId add_buffer(Buffer traits);
    /// Adds a buffer of which each of the first `tiles` tiles holds `bytes` bytes.
    BufferId add_buffer(Buffer traits, std::int64_t tiles, Bytes bytes);
    /// Gives the tile at least `bytes` bytes of the buffer.
    void hold(BufferId buffer, TileId tile, Bytes bytes);
    /// Gives the tile a part of the buffer with contents that do not change. Tiles may share them.
    void hold(BufferId buffer, TileId tile, program::SharedBytes contents,
              Relocations relocations = nullptr);
    /// Adds a buffer for the round of a repeat. The caller calls hold() for the tiles whose
    /// vertices read the round.
    BufferId add_round(std::string repeat);
    /// Returns the index of a codelet's entry in `symbols`, for relocations. Adds it if it is new.
    std::uint32_t symbol_number(std::string_view symbol);
    TensorId add_tensor(Tensor tensor);
    /// Adds a source in kernels/codelets whose entries vertices call. Later calls with the same
    /// source change nothing.
    void need_codelet(std::string_view source);
    /// Adds a source that is not in kernels/codelets, with its text.
    void need_codelet(std::string_view source, std::string_view text);

    ComputeSetId add_compute_set(ComputeSet traits);
    void add_vertex(ComputeSetId set, TileId tile, std::string_view symbol,
                    program::VertexKind kind, std::span<const Field> state);
    void add_vertex(ComputeSetId set, TileId tile, std::string_view symbol,
                    program::VertexKind kind, std::initializer_list<Field> state) {
        add_vertex(set, tile, symbol, kind, std::span(state.begin(), state.size()));
    }
    /// Adds `amount` to the tile's work in the compute set. Reports show it, and use it to explain
    /// why tiles wait for others.
    void add_work(ComputeSetId set, TileId tile, std::int64_t amount);
    /// Records a part of the tile's work that one worker does alone. For each tile and compute set,
    /// the graph keeps the largest part.
    void add_item(ComputeSetId set, TileId tile, const program::WorkItem& item);
    TableId add_table(TileId tile, std::span<const Field> words);

    ExchangeId add_exchange(Exchange traits);
    /// Adds a message. Adds nothing if `to` is empty.
    void add_message(ExchangeId exchange, TileId tile, Place from, Bytes bytes,
                     std::span<const Receiver> to, bool paired = false);
    void add_message(ExchangeId exchange, TileId tile, Place from, Bytes bytes, Receiver to) {
        add_message(exchange, tile, from, bytes, std::span(&to, 1));
    }
    CopyId add_stream_copy(StreamCopy copy);
    LinkId add_link_exchange(LinkExchange exchange);

    /// Frees the unused capacity of the pools. Call it when nothing more will be added.
    void close();

    [[nodiscard]] std::span<const Field> fields_of(Fields run) const {
        return std::span(fields).subspan(run.first, run.count);
    }

    std::string name;                  ///< name of the program
    std::vector<std::string> codelets; ///< sources that vertices need, each once
    std::map<std::string, std::string>
        own_codelets; ///< texts of the sources that are not in kernels/codelets
    std::vector<Buffer> buffers;
    std::vector<Tensor> tensors;
    std::vector<ComputeSet> compute_sets;
    std::vector<Exchange> exchanges;
    std::vector<StreamCopy> stream_copies;
    std::vector<LinkExchange> link_exchanges;
    std::vector<program::RemoteBuffer> remote_buffers;
    std::vector<TileId> io_tiles; ///< ascending; only they take part in background copies
    std::vector<Table> tables;
    std::vector<Field> fields; ///< the fields of vertices and tables
    std::vector<std::string> symbols;
    /// The tree of steps. Lowering omits compute sets without vertices and exchanges without
    /// messages.
    Step control;

private:
    Fields add_fields(std::span<const Field> added);

    std::map<std::string, std::uint32_t, std::less<>> symbol_numbers_;
};

/// Returns a tensor without pieces that the host writes before the run.
[[nodiscard]] Tensor given_tensor(std::string name, ElementType type,
                                  std::vector<std::int64_t> shape);
/// Returns a tensor without pieces that the host reads after the run.
[[nodiscard]] Tensor wanted_tensor(std::string name, ElementType type,
                                   std::vector<std::int64_t> shape);
/// Returns a one-dimensional tensor without pieces.
[[nodiscard]] Tensor array_tensor(const std::string& name, ElementType type, std::int64_t elements);
/// Returns the piece that holds `elements` consecutive elements of a one-dimensional tensor.
[[nodiscard]] Piece run_of(TileId tile, Place place, std::int64_t first, std::int64_t elements,
                           ElementType type);

/// Returns a step that runs the compute set, the exchange or the link exchange.
[[nodiscard]] Step run(ComputeSetId set);
[[nodiscard]] Step run(ExchangeId exchange);
[[nodiscard]] Step run(LinkId exchange);
/// Appends steps that run the compute sets and exchanges, in this order.
template <class... Ids> void run_next(std::vector<Step>& steps, Ids... ids) {
    (steps.push_back(run(ids)), ...);
}
[[nodiscard]] Step sequence(std::vector<Step> steps);
[[nodiscard]] Step repeat(std::int64_t count, std::vector<Step> steps);
/// Returns a repeat that stores the round in the buffer `round`.
[[nodiscard]] Step repeat(std::int64_t count, std::vector<Step> steps, BufferId round);
/// Returns a step that runs `then` if the word is not 0, else `otherwise`.
[[nodiscard]] Step when(TilePlace word, std::vector<Step> then, std::vector<Step> otherwise = {});
/// Returns a loop over the steps. It tests the word before each iteration and ends when it is 0.
[[nodiscard]] Step as_long_as(TilePlace word, std::vector<Step> steps);
/// Returns steps that are done in some rounds of the innermost repeat around them.
[[nodiscard]] Step in_rounds(const program::SomeRounds& rounds, std::vector<Step> steps);
/// Returns a step of a stream copy: StreamCopy, StreamStart or StreamWait.
[[nodiscard]] Step stream(Step::Kind kind, CopyId copy, std::int64_t row);
/// Returns a step whose first row is `row + row_a_round * round` in the innermost repeat.
[[nodiscard]] Step stream_by_round(Step::Kind kind, CopyId copy, std::int64_t row,
                                   std::int64_t row_a_round);
/// Returns a step whose first row is the value of the word `row` when the copy begins.
[[nodiscard]] Step stream(Step::Kind kind, CopyId copy, TilePlace row);

} // namespace tessera::graph

// SPDX-License-Identifier: MIT
// What a kernel is written against: buffers on tiles, vertices with fields, messages, and the
// control program over them. A kernel knows no address, no vertex state and no exchange row;
// kernels/lower finds them. Several kernels may add to one graph.
//
//     Graph graph("twice the sum");
//     const auto x = graph.add_buffer({.name = "x"});
//     graph.hold(x, tile, 64);
//     const auto work = graph.add_compute_set({"sum", Role::Work, "twice the sum"});
//     graph.add_vertex(work, tile, "sum_f32", VertexKind::Worker,
//                      {read({x, 0}, 60), write({x, 60}, 4), word(15), word(0)});
//     graph.control.children = {run(work)};
//
// Plain data in flat pools; a hundred thousand vertices are ordinary. What is wrong in it (a field
// on a tile that does not hold the buffer, bytes read before anything wrote them) shows when it is
// lowered.
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

/// Where a buffer must stand.
enum class Where : std::uint8_t { Any, Region0, Region1 };

/// A word of contents that is an address: of `place`, or of an entry of a codelet.
struct Relocation {
    Bytes at = 0; ///< in the contents
    bool is_symbol = false;
    std::uint32_t symbol = 0; ///< in Graph::symbols
    std::uint32_t buffer = 0;
    Bytes offset = 0;
};
using Relocations = std::shared_ptr<const std::vector<Relocation>>;

/// Memory of one tile that is in a buffer.
struct Held {
    TileId tile = 0;
    Bytes bytes = 0;
    program::SharedBytes contents; ///< there from the start; null: undefined until it is written
    Relocations relocations;       ///< of the contents; null: none
};

/// Memory that tiles hold some of each: at one address on all of them, where one plan for them
/// fits.
struct Buffer {
    std::string name;
    program::SegmentKind kind = program::SegmentKind::Tensor;
    Bytes alignment = 16;
    Where where = Where::Any;
    Bytes read_beyond = 0; ///< bytes behind the end that codelets may read
    bool padded = false;   ///< codelets read bytes between elements: zeros, if not the host's
    bool zeroed = false;   ///< zero from the start on, and kept all over the run
    std::vector<BufferId> apart = {}; ///< buffers that may share no memory element with this one
    std::vector<Held> held = {};      ///< by hold()
};

/// Bytes of a buffer from `offset` on, on a tile that is said beside it.
struct Place {
    BufferId buffer;
    Bytes offset = 0;

    [[nodiscard]] constexpr Place operator+(Bytes bytes) const { return {buffer, offset + bytes}; }
    friend constexpr bool operator==(const Place&, const Place&) = default;
};

enum class Access : std::uint8_t {
    Read,
    Write,     ///< all of the bytes
    WritePart, ///< some of them; the others keep what they had
    Update     ///< read and written
};

/// One word of vertex state, or a use of memory that has none.
struct Field {
    enum class Kind : std::uint8_t {
        Word,    ///< `word`
        Pointer, ///< address of `place`
        Table,   ///< address of table `word`
        Use      ///< no word: memory that the codelet reaches in another way
    };
    Kind kind = Kind::Word;
    Access access = Access::Read;
    std::uint32_t word = 0;
    Place place = {};
    Bytes bytes = 0;
};

/// A field that holds a number of 32 bits.
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
/// A field that holds the round that a repeat has stored in this buffer.
[[nodiscard]] constexpr Field round_of(BufferId round) {
    return read({round}, 4);
}
[[nodiscard]] constexpr Field use(Place place, Bytes bytes, Access access) {
    return {.kind = Field::Kind::Use, .access = access, .word = 0, .place = place, .bytes = bytes};
}
[[nodiscard]] constexpr Field table(TableId table) {
    return {.kind = Field::Kind::Table, .word = table.index};
}

/// A run of fields in Graph::fields.
struct Fields {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// Words that a vertex's state points to, among the state of its tile.
struct Table {
    TileId tile = 0;
    Fields fields;
};

/// One call of a codelet. Vertices of one tile and compute set run one after the other.
struct Vertex {
    TileId tile = 0;
    std::uint32_t symbol = 0; ///< in Graph::symbols
    program::VertexKind kind = program::VertexKind::MultiWorker;
    Fields fields;
};

/// Steps say what they are for (program::Role) and which kernel's they are: reports read these,
/// names are for people.
struct ComputeSet {
    std::string name;
    program::Role role;
    std::string owner;
    std::string work_unit = {}; ///< what add_work() counts, as people say it: "non-zeros"
    std::string item_word = {}; ///< what add_item() names: "row"
    std::vector<Vertex> vertices = {};
    std::vector<std::int64_t> work = {};       ///< by add_work()
    std::vector<program::WorkItem> items = {}; ///< by add_item()
};

/// A place on a tile, in 12 bytes: there are as many of them as messages and receivers.
struct TilePlace {
    TileId tile = 0;
    BufferId buffer;
    std::uint32_t offset = 0;

    TilePlace() = default;
    TilePlace(TileId on, Place at)
        : tile(on), buffer(at.buffer), offset(static_cast<std::uint32_t>(at.offset)) {}
    [[nodiscard]] Place place() const { return {buffer, Bytes{offset}}; }
};

/// The control program: a tree, as program::Step with words in buffers instead of at addresses.
///
/// | kind | children | fields |
/// | --- | --- | --- |
/// | Sequence | in order | |
/// | Repeat | in order, `count` times | count, rounds |
/// | While | in order, as long as the word is not 0, which is looked at first | word |
/// | If | [0] where the word is not 0, else [1], which may be missing | word |
/// | ComputeSet, Exchange | none | index |
/// | Sync | none | zone |
/// | StreamCopy, StreamStart | none | index, row or word |
/// | StreamWait | none | index |
///
/// Rounds of a repeat count from 0. A stream copy's first row is `row + row_a_round * round`, with
/// the round of the innermost repeat around it. Buffers in `rounds` have the round in their first
/// word on every tile that holds them.
struct Step {
    using Kind = program::Step::Kind;
    Kind kind = Kind::Sequence;
    std::uint32_t index = 0;
    std::uint32_t count = 1;
    program::SyncZone zone = program::SyncZone::Internal;
    std::int64_t row = 0; ///< first row of a stream copy, where no word says it
    std::int64_t row_a_round = 0;
    std::vector<BufferId> rounds = {}; ///< by Graph::add_round()
    std::optional<TilePlace> word;     ///< 32 bits at a multiple of 4, read when the step comes
    std::vector<Step> children;
};

struct Message {
    TilePlace from;
    std::uint32_t bytes = 0;
    std::uint32_t first_to = 0; ///< in Exchange::to
    std::uint32_t receivers = 0;
    bool paired = false; ///< the double width is wanted: the receivers are whole tile pairs
};

/// Where a message goes.
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

/// Bytes [offset, offset + bytes) of the rows of a stream copy.
struct StreamPiece {
    TileId tile = 0;
    Place place;
    Bytes bytes = 0;
    Bytes offset = 0;
};

struct StreamCopy {
    std::string name;
    std::string owner;               ///< the role is Role::Stream
    std::uint32_t remote_buffer = 0; ///< in Graph::remote_buffers
    program::StreamCopy::Direction direction = program::StreamCopy::Direction::Read;
    std::int64_t rows = 1;
    std::vector<StreamPiece> pieces = {};
};

/// A strided block of a tensor, as program::Piece.
struct Piece {
    TileId tile = 0;
    Place place;
    std::int64_t host_offset = 0; ///< elements
    std::vector<program::PieceDim> dims;
};

/// How the host sees tile memory: row-major.
struct Tensor {
    std::string name;
    ElementType type = ElementType::F16;
    std::vector<std::int64_t> shape;
    bool given = false;  ///< the host writes it before the run
    bool wanted = false; ///< the host reads it after the run
    /// Its words may decide about control: timing mode has them, and copies keep them so.
    bool known = false;
    std::vector<Piece> pieces = {};
};

/// See above. Ids count from 0 in the order of adding; those of steps are indices of Step.
class Graph {
public:
    explicit Graph(std::string program_name) : name(std::move(program_name)) {}

    BufferId add_buffer(Buffer traits);
    /// The same, and each of the first `tiles` tiles holds so many bytes of it.
    BufferId add_buffer(Buffer traits, std::int64_t tiles, Bytes bytes);
    /// The tile has (at least) so many bytes of the buffer.
    void hold(BufferId buffer, TileId tile, Bytes bytes);
    /// The same with contents that do not change. Tiles may share them.
    void hold(BufferId buffer, TileId tile, program::SharedBytes contents,
              Relocations relocations = nullptr);
    /// A buffer for the round of a repeat, to be held by the tiles whose vertices ask for it.
    BufferId add_round(std::string repeat);
    /// Number of a codelet's entry, for relocations.
    std::uint32_t symbol_number(std::string_view symbol);
    TensorId add_tensor(Tensor tensor);
    /// Vertices call an entry of this source; asked for several times, it is there once.
    void need_codelet(std::string_view source);
    /// The same of a source that is not in kernels/codelets.
    void need_codelet(std::string_view source, std::string_view text);

    ComputeSetId add_compute_set(ComputeSet traits);
    void add_vertex(ComputeSetId set, TileId tile, std::string_view symbol,
                    program::VertexKind kind, std::span<const Field> state);
    void add_vertex(ComputeSetId set, TileId tile, std::string_view symbol,
                    program::VertexKind kind, std::initializer_list<Field> state) {
        add_vertex(set, tile, symbol, kind, std::span(state.begin(), state.size()));
    }
    /// The tile has so much (more) to do in the compute set; for reports, and of those that wait
    /// for others the reason.
    void add_work(ComputeSetId set, TileId tile, std::int64_t amount);
    /// Notes a part of the tile's work that one worker does alone. The graph keeps the largest one of
    /// each tile and compute set.
    void add_item(ComputeSetId set, TileId tile, const program::WorkItem& item);
    TableId add_table(TileId tile, std::span<const Field> words);

    ExchangeId add_exchange(Exchange traits);
    /// To nobody there is none.
    void add_message(ExchangeId exchange, TileId tile, Place from, Bytes bytes,
                     std::span<const Receiver> to, bool paired = false);
    void add_message(ExchangeId exchange, TileId tile, Place from, Bytes bytes, Receiver to) {
        add_message(exchange, tile, from, bytes, std::span(&to, 1));
    }
    CopyId add_stream_copy(StreamCopy copy);

    /// Gives back what the pools have in reserve: nothing more will be added.
    void close();

    [[nodiscard]] std::span<const Field> fields_of(Fields run) const {
        return std::span(fields).subspan(run.first, run.count);
    }

    std::string name;                  ///< of the program
    std::vector<std::string> codelets; ///< sources that vertices need, each once
    std::map<std::string, std::string>
        own_codelets; ///< texts of those that are not in kernels/codelets
    std::vector<Buffer> buffers;
    std::vector<Tensor> tensors;
    std::vector<ComputeSet> compute_sets;
    std::vector<Exchange> exchanges;
    std::vector<StreamCopy> stream_copies;
    std::vector<program::RemoteBuffer> remote_buffers;
    std::vector<TileId> io_tiles; ///< ascending; only they take part in background copies
    std::vector<Table> tables;
    std::vector<Field> fields; ///< of vertices and tables
    std::vector<std::string> symbols;
    /// The tree of steps. Compute sets without vertices and exchanges without messages are left
    /// out.
    Step control;

private:
    Fields add_fields(std::span<const Field> added);

    std::map<std::string, std::uint32_t, std::less<>> symbol_numbers_;
};

/// Tensors without pieces: one that the host gives, and one that it reads.
[[nodiscard]] Tensor given_tensor(std::string name, ElementType type,
                                  std::vector<std::int64_t> shape);
[[nodiscard]] Tensor wanted_tensor(std::string name, ElementType type,
                                   std::vector<std::int64_t> shape);
/// A one-dimensional tensor without pieces, and a run of its elements in a tile.
[[nodiscard]] Tensor array_tensor(const std::string& name, ElementType type, std::int64_t elements);
[[nodiscard]] Piece run_of(TileId tile, Place place, std::int64_t first, std::int64_t elements,
                           ElementType type);

/// Steps of the control program.
[[nodiscard]] Step run(ComputeSetId set);
[[nodiscard]] Step run(ExchangeId exchange);
/// Runs compute sets and exchanges as the next of `steps`, in this order.
template <class... Ids> void run_next(std::vector<Step>& steps, Ids... ids) {
    (steps.push_back(run(ids)), ...);
}
[[nodiscard]] Step sequence(std::vector<Step> steps);
[[nodiscard]] Step repeat(std::int64_t count, std::vector<Step> steps);
/// The same; `round` has the round.
[[nodiscard]] Step repeat(std::int64_t count, std::vector<Step> steps, BufferId round);
/// `then` where the word is not 0, else `otherwise`.
[[nodiscard]] Step when(TilePlace word, std::vector<Step> then, std::vector<Step> otherwise = {});
/// The steps, as long as the word is not 0 before them.
[[nodiscard]] Step as_long_as(TilePlace word, std::vector<Step> steps);
/// A stream copy of the kind: StreamCopy, StreamStart or StreamWait.
[[nodiscard]] Step stream(Step::Kind kind, CopyId copy, std::int64_t row);
/// The same of another row in each round of the innermost repeat.
[[nodiscard]] Step stream_by_round(Step::Kind kind, CopyId copy, std::int64_t row,
                                   std::int64_t row_a_round);
/// The same of the row that the word says when the copy begins.
[[nodiscard]] Step stream(Step::Kind kind, CopyId copy, TilePlace row);

} // namespace tessera::graph

// SPDX-License-Identifier: MIT
// A Program is plain data and the whole contract between kernels and machine: what every tile's
// memory holds at the start, what runs in which order, and where the host finds operands and
// results.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "models/program/role.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::program {

/// Bytes that several tiles may share (code, tables). Null means zero fill.
using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

enum class SegmentKind { Code, Stack, VertexState, Metadata, ExchangeRow, Tensor };

/// Steps of a run in which a piece of memory is kept, both ends included: leaves of the control
/// program in tree order (leaf_steps.h). Memory that the host fills is kept from step 0, memory
/// that it reads to kEnd.
struct Lifetime {
    static constexpr std::uint32_t kEnd = 0xffffffff; ///< until the run ends

    std::uint32_t first = 0;
    std::uint32_t last = kEnd;

    [[nodiscard]] constexpr bool contains(std::uint32_t step) const {
        return first <= step && step <= last;
    }
    [[nodiscard]] constexpr bool meets(const Lifetime& other) const {
        return first <= other.last && other.first <= last;
    }
    friend constexpr bool operator==(const Lifetime&, const Lifetime&) = default;
};

/// A piece of a tile's memory. `data` is null or holds the `bytes` bytes that stand there when the
/// run starts; memory without data starts as zero. Timing mode knows what stands there at the start
/// where the segment says so, or is code, vertex state or metadata.
struct Segment {
    Address address = 0;
    Bytes bytes = 0;
    SegmentKind kind = SegmentKind::Tensor;
    std::string name; ///< what the memory report calls it
    SharedBytes data;
    Lifetime lifetime = {}; ///< from step 0 where there are data
    bool known = false;
};

/// All segments of one tile; segments whose lifetimes meet do not overlap.
struct Image {
    std::vector<Segment> segments;
};

/// Where a code word came from, for errors and listings.
struct LineEntry {
    Address address = 0;
    std::uint32_t file = 0; ///< index into Codelet::files
    std::uint32_t line = 0; ///< of an instruction from a macro, the outermost call
    std::uint32_t body_file = 0;
    std::uint32_t body_line = 0; ///< where the instruction is written; `line`, or in a macro's body
};

enum class SymbolBinding { Local, Global, Weak };

/// What else is known of a symbol.
struct SymbolInfo {
    SymbolBinding binding = SymbolBinding::Local;
    Bytes bytes = 0;       ///< as the source says (`.size`); 0: it says nothing
    bool scatters = false; ///< `.scatters`: it stores where data say
};

/// Assembled and linked once; at the same address on every tile that holds it (its bytes stand in
/// the tile's image as a Code segment).
struct Codelet {
    std::string name;
    Address address = 0;
    std::vector<std::uint32_t> words;
    Address data_address = 0;
    std::vector<std::uint32_t> data_words; ///< sections that were linked apart from the code
    std::map<std::string, Address> symbols;
    std::map<std::string, SymbolInfo> symbol_info; ///< of the same names
    std::vector<std::string> files;                ///< the sources, then what they include
    std::vector<LineEntry> lines;                  ///< ascending addresses
    std::vector<std::string> warnings;             ///< of the assembler
};

enum class VertexKind { Supervisor, MultiWorker, Worker };

/// Bytes of a tile's memory.
struct ByteRange {
    Address address = 0;
    Bytes bytes = 0;

    friend auto operator<=>(const ByteRange&, const ByteRange&) = default;
};

/// One call of a codelet on one tile.
struct Vertex {
    static constexpr std::uint32_t kNowhere = 0xffffffff;

    Address entry = 0;
    VertexKind kind = VertexKind::MultiWorker;
    Address state_address = 0;
    std::uint32_t name = 0; ///< index into Program::vertex_names
    /// Where it may store at addresses that timing mode does not know: index into
    /// Program::scattered.
    std::uint32_t scatters = kNowhere;
};

/// What one tile does in a compute set: the lowered supervisor stub at `stub` (0 = the tile idles)
/// calls `vertices` in order and returns with `br $lr`.
struct TileVertices {
    Address stub = 0;
    std::vector<Vertex> vertices;
};

/// A piece of a tile's work that one worker has to itself.
struct WorkItem {
    std::int64_t number = -1; ///< which: of a row of A, its number
    std::int64_t amount = 0;  ///< in the unit of the compute set's work
    int worker = -1;          ///< whose it is
};

/// Steps have a name for people, a role that reports go by, and an owner: the kernel whose step it
/// is, empty where there is none.
struct ComputeSet {
    std::string name;
    std::vector<TileVertices> tiles; ///< indexed by tile; shorter than the chip = the rest idle
    Role role = Role::Work;
    std::string owner = {};
    /// By tile, how much it has to do, in words of its kernel; empty where that is not said.
    std::vector<std::int64_t> work = {};
    std::string work_unit = {}; ///< "non-zeros"
    /// By tile the largest item; empty where that is not said.
    std::vector<WorkItem> items = {};
    std::string item_word = {}; ///< "row"
};

struct Destination {
    TileId tile = 0;
    Address address = 0;
};

/// `bytes` (a multiple of 4; of 8 where paired) from one tile to each destination. `paired` asks
/// for double width: the destinations are then complete tile pairs with the same address in both
/// members.
struct Transfer {
    TileId source_tile = 0;
    Address source_address = 0;
    Bytes bytes = 0;
    bool paired = false;
    std::vector<Destination> destinations;
};

/// One tile's exchange instructions for one exchange. The words stand in the tile's image as an
/// ExchangeRow segment at `address` (8-byte aligned, region 0).
struct ExchangeRow {
    TileId tile = 0;
    Address address = 0;
    std::vector<std::uint32_t> words;
};

struct Exchange {
    std::string name;
    std::vector<Transfer> transfers; ///< what reports speak of
    std::vector<ExchangeRow> rows; ///< what the fabric executes; ascending tiles, active tiles only
    Role role = Role::Bring;
    std::string owner = {};
};

/// A 32-bit word of a tile's memory, read when the control program needs it.
struct TileValue {
    TileId tile = 0;
    Address address = 0; ///< a multiple of 4
};

/// Who meets at a barrier: the tiles of a chip, they and the host, or the tiles of all chips of a group
/// of zone `number`. A zone is a partition of a system's chips into groups; where there is no system a
/// group is one chip.
struct SyncZone {
    enum class Kind : std::uint8_t { Chip, Host, Group };
    Kind kind = Kind::Chip;
    std::uint32_t number = 0;

    [[nodiscard]] static constexpr SyncZone chip() { return {}; }
    [[nodiscard]] static constexpr SyncZone host() { return {Kind::Host}; }
    [[nodiscard]] static constexpr SyncZone group(std::uint32_t number) {
        return {Kind::Group, number};
    }
    friend constexpr bool operator==(const SyncZone&, const SyncZone&) = default;
};

/// Some rounds of a repeat: first, first + every and so on, as far as they are below `end`.
struct SomeRounds {
    std::int64_t first = 0;
    std::int64_t every = 1;
    std::int64_t end = 0;

    [[nodiscard]] bool has(std::int64_t round) const {
        return round >= first && round < end && (round - first) % every == 0;
    }
    friend bool operator==(const SomeRounds&, const SomeRounds&) = default;
};

/// The control program: a tree. Every tile's supervisor walks it, so all of them know every
/// decision.
///
/// | kind | children | fields |
/// | --- | --- | --- |
/// | Sequence | in order | only |
/// | Repeat | in order, `count` times | count, rounds |
/// | While | in order, as long as the word is not 0, which is looked at first | value |
/// | If | [0] where the word is not 0, else [1], which may be missing | value |
/// | Call | none: the steps of functions[index] | index |
/// | ComputeSet, Exchange | none | index |
/// | Sync | none | zone |
/// | StreamCopy | none: stream_copies[index], begun and ended | index, row or value |
/// | StreamStart, StreamWait | none: a copy in the background | index; start: row or value |
/// | LinkExchange | none | index |
///
/// Rounds of a repeat count from 0. A stream copy's first row is `row + row_a_round * round`, with
/// the round of the innermost repeat around it. `rounds` are words that have the round: a tile's own
/// walk stores it at the begin of each, which takes control.step_cycles for each of its words. A sequence
/// with `only` is walked in these rounds of that repeat; every tile decides by its own counter, which takes
/// control.branch_cycles.
struct Step {
    enum class Kind {
        Sequence,
        Repeat,
        While,
        If,
        Call,
        ComputeSet,
        Exchange,
        Sync,
        StreamCopy,
        StreamStart,
        StreamWait,
        LinkExchange
    };
    Kind kind = Kind::Sequence;
    std::uint32_t index = 0;
    std::uint32_t count = 1;
    SyncZone zone = {};
    std::int64_t row = 0; ///< first row of a stream copy, where no value says it
    std::int64_t row_a_round = 0;
    std::optional<TileValue> value;
    std::vector<TileValue> rounds; ///< ascending tiles
    std::optional<SomeRounds> only = {};
    std::vector<Step> children;
};

/// Steps that several calls share.
struct Function {
    std::string name;
    Step body;
};

/// An address that depends on a word of the same tile, and on the round of the innermost repeat, both
/// read when the step begins: address + stride * ((word + sign * round + shift) mod count), the
/// remainder being 0 or more. So chips of different ranks run one program.
struct LinkIndex {
    Address word = 0;      ///< where it stands; a multiple of 4; it is signed
    std::int64_t sign = 0; ///< 1, -1, or 0: the round does not matter
    Bytes stride = 0;      ///< a multiple of 4
    std::int64_t count = 1;
    std::int64_t shift = 0;
};

/// Bytes of a tile that go to another chip or come from one. Multiples of 4.
struct LinkPlace {
    TileId tile = 0;
    Address address = 0;
    Bytes bytes = 0;
    std::optional<LinkIndex> indexed = {};
};

/// A message of a link exchange, as one of its two chips has it: it goes out by a channel or comes in
/// by it. `index` counts the messages of the channel in this exchange, each way, from 0. Which chip is
/// at a channel's other end a program does not say (system_program.h).
struct LinkMessage {
    std::uint32_t channel = 0;
    std::uint32_t index = 0;
    LinkPlace place;
};

/// A barrier of the chips of a group, behind which messages go from tiles of one to tiles of another.
/// Exchanges of the group's chips that have the same name are one.
struct LinkExchange {
    std::string name;
    SyncZone zone = SyncZone::group(0);
    std::vector<LinkMessage> sends; ///< a tile's go in this order
    std::vector<LinkMessage> receives;
    Role role = Role::Link;
    std::string owner = {};
};

/// Rows of bytes outside the chip that stream copies read and write.
struct RemoteBuffer {
    enum class Place { StreamingMemory, Host };
    std::string name;
    Place place = Place::StreamingMemory;
    std::int64_t rows = 0;
    Bytes row_bytes = 0; ///< a multiple of 4
    bool known = false;  ///< to timing mode, with what tiles write to it
};

/// Bytes [offset, offset + bytes) of the rows of a copy, and where they are in a tile. Multiples of
/// 4.
struct StreamPiece {
    TileId tile = 0;
    Address address = 0;
    Bytes bytes = 0;
    Bytes offset = 0;
};

/// Words of a tile that name rows of a stream copy: word i says which row of the buffer is row
/// `first + i` of the copy. It is below `below`, and counts from row `base` behind the step's row on.
struct RowNumbers {
    TileId tile = 0;
    Address address = 0; ///< of the first word; a multiple of 4
    std::int64_t first = 0;
    std::int64_t count = 1;
    std::int64_t base = 0;
    std::int64_t below = 0;
};

/// Moves `rows` rows of a remote buffer. The pieces hold every byte of them once. Without `rows_from`
/// the rows are neighbours, from the step's row on. With it they are read into tiles, and no piece has
/// bytes of two rows: each tile asks for what its pieces hold, by words of its own, which are read
/// when the copy begins.
struct StreamCopy {
    enum class Direction { Read, Write }; ///< read: into tiles
    std::string name;
    std::uint32_t buffer = 0;
    Direction direction = Direction::Read;
    std::int64_t rows = 1;
    std::vector<StreamPiece> pieces;
    std::vector<RowNumbers> rows_from = {}; ///< ascending tiles, then rows; no row of a tile twice
    Role role = Role::Stream;
    std::string owner = {};
};

/// One nested loop of a piece: `count` steps of `host_stride` elements and `tile_stride` bytes.
struct PieceDim {
    std::int64_t count = 1;
    std::int64_t host_stride = 0;
    std::int64_t tile_stride = 0;
};

/// A strided block of a tensor in one tile: element (i0, i1, ...) of the nest is host element
/// `host_offset + sum i_d * host_stride_d` and stands at `address + sum i_d * tile_stride_d`.
struct Piece {
    TileId tile = 0;
    Address address = 0;
    std::int64_t host_offset = 0; ///< elements, in the row-major host array
    std::vector<PieceDim> dims;   ///< outermost first
};

/// An operand or a result as the host sees it: row-major, `type`, `shape`.
struct Tensor {
    std::string name;
    ElementType type = ElementType::F16;
    std::vector<std::int64_t> shape;
    std::vector<Piece> pieces;
    bool kept = true;   ///< until the run ends; the memory of others may be taken again
    bool known = false; ///< what the host writes may decide about control: timing mode has it
};

struct Program {
    std::string name;
    std::vector<Codelet> codelets;
    std::vector<Image> images;
    std::vector<std::uint32_t>
        image_of_tile; ///< one entry a tile; kNoImage = the tile holds nothing
    std::vector<ComputeSet> compute_sets;
    std::vector<Exchange> exchanges;
    std::vector<LinkExchange> link_exchanges;
    Step control;
    std::vector<Function> functions;
    std::vector<RemoteBuffer> remote_buffers;
    std::vector<StreamCopy> stream_copies;
    std::vector<TileId> io_tiles; ///< ascending; only they take part in background copies
    std::vector<Tensor> tensors;
    std::vector<std::string> vertex_names;
    std::vector<std::vector<ByteRange>> scattered; ///< ascending ranges of whole words

    static constexpr std::uint32_t kNoImage = 0xffffffff;
};

} // namespace tessera::program

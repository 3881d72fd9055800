// SPDX-License-Identifier: MIT
// Compares the memory that vertices declare with the memory that their codelets use, while a program
// runs (run_program.h). A second tile runs each tile's part of a compute set from a copy of its
// memory in which all bytes are changed that no vertex reads, as its fields say, before it or
// another has written them. What then differs is undefined: it depends on such a byte, or is
// declared as written and was not. No step may declare that it reads an undefined byte, and no
// element of a result may be one. A byte that is not declared as written may not change.
#pragma once

#include "kernels/lower/declared.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/tile/core/tile_core.h"
#include "tests/support/run_program.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Keeps the uses of all graphs that are lowered as long as it exists.
class LoweredUses {
public:
    LoweredUses();

    /// Those of the program, of several that a plan has tried. @throws ProgramError
    [[nodiscard]] const lower::DeclaredUses& of(const program::Program& program) const;

private:
    struct Lowered {
        std::vector<program::ComputeSet> sets;
        lower::DeclaredUses uses;
    };
    std::vector<Lowered> all_;
    lower::DeclaredListener listener_;
};

class DeclaredTwins {
public:
    /// `machine` and `program` outlive this.
    DeclaredTwins(const spec::MachineSpec& machine, const program::Program& program,
                  lower::DeclaredUses uses);

    /// Has the run told to this.
    void watch(Watcher& watcher);
    /// After the run: what is wrong, a sentence each.
    [[nodiscard]] std::set<std::string> faults();

private:
    /// Bytes [begin, end) of a tile's memory.
    struct Run {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    /// The meaning of a tile's bytes for one step.
    struct Meaning {
        std::vector<Run> unread;  ///< nothing reads them before something has written them
        std::vector<Run> read;    ///< a codelet may read them
        std::vector<Run> kept;    ///< nothing writes them
        std::vector<Run> written; ///< something may write them
    };

    void before(std::uint32_t set, TileId tile, std::span<const std::byte> memory);
    void after(std::uint32_t set, TileId tile, std::span<const std::byte> memory);
    /// The bytes of a message or a row are as defined as those that were sent.
    void moved(const program::Step& leaf);
    /// The elements of results are defined.
    void check(const program::Tensor& tensor, const program::Piece& piece, std::int64_t address,
               std::size_t dim);
    const Meaning& meaning_of(std::uint32_t set, TileId tile);
    void tell(std::uint32_t set, TileId tile, std::size_t at, const std::string& what);

    [[nodiscard]] std::size_t offset(Address address) const;
    [[nodiscard]] std::span<std::byte> twin_of(TileId tile);
    [[nodiscard]] std::span<std::uint32_t> undefined(TileId tile, Address address, Bytes bytes);

    const spec::MachineSpec& machine_;
    const program::Program& program_;
    lower::DeclaredUses uses_;
    tile::CodeCache code_;
    std::vector<std::byte> noise_; ///< never 0
    std::size_t shift_ = 0;
    std::vector<std::vector<std::uint64_t>> memory_;
    std::vector<tile::TileCore> tiles_;
    /// By tile and byte: 1 + the compute set that has left it undefined; 0: none has.
    std::vector<std::vector<std::uint32_t>> undefined_;
    std::map<std::pair<std::uint32_t, TileId>, Meaning> known_;
    std::vector<std::byte> start_; ///< the twin's memory before it runs
    std::vector<std::byte> truth_; ///< the tile's
    std::set<std::string> told_;
    std::set<std::string> faults_;
};

} // namespace tessera::test

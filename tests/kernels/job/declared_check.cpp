// SPDX-License-Identifier: MIT
// Compares the memory that vertices declare with the memory that their codelets use.
//
// usage: declared_check [--forget read|write] < LINES     a line: WORKLOAD [KEY=VALUE ...]
//
// Runs each workload step by step. A second tile runs each tile's part of a compute set from a copy of
// its memory in which all bytes are changed that no vertex reads, as its fields say, before it or another has
// written them. What then differs is undefined: it depends on such a byte, or is declared as written and
// was not. No step may declare that it reads an undefined byte, and no element of a result may be one. A
// byte that is not declared as written may not change. --forget leaves out the last read or write of each
// tile, which this program must then notice.
#include "base/config/paths.h"
#include "kernels/catalog/load.h"
#include "kernels/job/job.h"
#include "kernels/lower/declared.h"
#include "models/spec/load.h"
#include "models/tile/core/tile_core.h"
#include "tests/support/run_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using graph::Access;

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

class Twins {
public:
    Twins(const spec::MachineSpec& machine, const program::Program& program,
          lower::DeclaredUses uses)
        : machine_(machine), program_(program), uses_(std::move(uses)), code_(program.codelets),
          noise_(std::size_t{1} << 16U) {
        std::mt19937 random(1);
        std::ranges::generate(noise_, [&] { return static_cast<std::byte>(1 + random() % 255); });
        for (std::size_t tile = 0; tile < static_cast<std::size_t>(machine.chip.tiles); ++tile) {
            memory_.emplace_back(static_cast<std::size_t>(machine.memory.bytes()) / 8);
            tiles_.emplace_back(machine, static_cast<TileId>(tile),
                                reinterpret_cast<std::byte*>(memory_.back().data()));
            std::size_t end = 0;
            if (const auto image = program.image_of_tile[tile];
                image != program::Program::kNoImage) {
                tiles_.back().load(program.images[image], code_);
                for (const program::Segment& segment : program.images[image].segments) {
                    end = std::max(end, offset(segment.address) +
                                            static_cast<std::size_t>(segment.bytes));
                }
            }
            undefined_.emplace_back(end);
        }
    }

    void before(std::uint32_t set, TileId tile, std::span<const std::byte> memory) {
        const Meaning& meaning = meaning_of(set, tile);
        const auto& undefined = undefined_[tile];
        for (const Run& run : meaning.read) {
            const auto begin = undefined.begin() + static_cast<std::ptrdiff_t>(run.begin);
            const auto end = undefined.begin() + static_cast<std::ptrdiff_t>(run.end);
            if (const auto found = std::find_if(begin, end, [](auto step) { return step != 0; });
                found != end) {
                tell(set, tile, static_cast<std::size_t>(found - undefined.begin()),
                     fmt::format("reads what step '{}' has left undefined",
                                 program_.compute_sets[*found - 1U].name));
            }
        }
        const std::span<std::byte> twin = twin_of(tile);
        truth_.assign(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(twin.size()));
        std::ranges::copy(truth_, twin.begin());
        for (const Run& run : meaning.unread) {
            for (std::size_t at = run.begin; at < run.end; ++at) {
                twin[at] ^= noise_[(at + shift_) % noise_.size()];
            }
        }
        shift_ += 977;
        start_.assign(twin.begin(), twin.end());
    }

    void after(std::uint32_t set, TileId tile, std::span<const std::byte> memory) {
        try {
            static_cast<void>(tiles_[tile].run(program_.compute_sets[set].tiles[tile].stub));
        } catch (const tile::TileFault& fault) {
            tell(set, tile, 0, "faults: " + fault.fault().reason);
            return;
        }
        const Meaning& meaning = meaning_of(set, tile);
        const auto twin = twin_of(tile);
        for (const Run& run : meaning.kept) {
            for (std::size_t at = run.begin; at < run.end; ++at) {
                if (twin[at] != start_[at] || memory[at] != truth_[at]) {
                    tell(set, tile, at, "writes what it does not declare");
                    break;
                }
            }
        }
        for (const Run& run : meaning.written) {
            for (std::size_t at = run.begin; at < run.end; ++at) {
                if (twin[at] != memory[at]) {
                    undefined_[tile][at] = set + 1;
                } else if (twin[at] != start_[at] || start_[at] != truth_[at]) { // written
                    undefined_[tile][at] = 0;
                }
            }
        }
    }

    /// The bytes of a message or a row are as defined as those that were sent.
    void moved(const program::Step& leaf) {
        using Kind = program::Step::Kind;
        if (leaf.kind == Kind::Exchange) {
            std::vector<std::uint32_t> sent;
            for (const program::Transfer& transfer : program_.exchanges[leaf.index].transfers) {
                const auto from =
                    undefined(transfer.source_tile, transfer.source_address, transfer.bytes);
                sent.assign(from.begin(), from.end());
                for (const program::Destination& to : transfer.destinations) {
                    std::ranges::copy(sent, undefined(to.tile, to.address, transfer.bytes).begin());
                }
            }
        } else if (leaf.kind == Kind::StreamCopy || leaf.kind == Kind::StreamStart) {
            const program::StreamCopy& copy = program_.stream_copies[leaf.index];
            for (const program::StreamPiece& piece : copy.pieces) {
                const auto there = undefined(piece.tile, piece.address, piece.bytes);
                if (copy.direction == program::StreamCopy::Direction::Read) {
                    std::ranges::fill(there, 0U);
                } else if (const auto step = std::ranges::max(there); step != 0) {
                    tell(step - 1, piece.tile, offset(piece.address),
                         fmt::format("leaves bytes undefined that stream copy '{}' writes",
                                     copy.name));
                }
            }
        }
    }

    /// The elements of results are defined.
    void ended() {
        for (const program::Tensor& tensor : program_.tensors) {
            for (const program::Piece& piece : tensor.pieces) {
                check(tensor, piece, piece.address, 0);
            }
        }
    }

    [[nodiscard]] const std::set<std::string>& faults() const { return faults_; }

private:
    [[nodiscard]] std::size_t offset(Address address) const {
        return static_cast<std::size_t>(address - machine_.memory.region0_begin());
    }
    [[nodiscard]] std::span<std::byte> twin_of(TileId tile) {
        return std::as_writable_bytes(std::span(memory_[tile])).first(undefined_[tile].size());
    }
    [[nodiscard]] std::span<std::uint32_t> undefined(TileId tile, Address address, Bytes bytes) {
        return std::span(undefined_[tile])
            .subspan(offset(address), static_cast<std::size_t>(bytes));
    }

    void check(const program::Tensor& tensor, const program::Piece& piece, std::int64_t address,
               std::size_t dim) {
        if (!tensor.kept) {
            return;
        }
        if (dim < piece.dims.size()) {
            for (std::int64_t i = 0; i < piece.dims[dim].count; ++i) {
                check(tensor, piece, address + i * piece.dims[dim].tile_stride, dim + 1);
            }
            return;
        }
        for (const std::uint32_t step :
             undefined(piece.tile, static_cast<Address>(address), bytes_of(tensor.type))) {
            if (step != 0) {
                tell(step - 1, piece.tile, offset(static_cast<Address>(address)),
                     fmt::format("leaves an element of '{}' undefined", tensor.name));
                return;
            }
        }
    }

    const Meaning& meaning_of(std::uint32_t set, TileId tile) {
        const auto [entry, is_new] = known_.try_emplace({set, tile});
        if (!is_new) {
            return entry->second;
        }
        enum : std::uint8_t { kTouched = 1, kRead = 2, kCode = 4, kWritten = 8 };
        std::vector<std::uint8_t> bytes(undefined_[tile].size());
        for (const program::Segment& segment :
             program_.images[program_.image_of_tile[tile]].segments) {
            if (segment.kind == program::SegmentKind::Code) {
                visit(segment.address, segment.bytes, bytes,
                      [](std::uint8_t& byte) { byte |= kTouched | kCode; });
            } else if (segment.kind == program::SegmentKind::Stack) {
                visit(segment.address, segment.bytes, bytes,
                      [](std::uint8_t& byte) { byte |= kTouched | kWritten; });
            }
        }
        for (const lower::DeclaredUse& use : uses_.at(set).at(tile)) {
            visit(use.range.address, use.range.bytes, bytes, [&](std::uint8_t& byte) {
                const bool reads = use.access == Access::Read || use.access == Access::Update;
                if ((byte & kTouched) == 0) {
                    byte |= use.access == Access::Write ? 0 : reads ? kRead : kCode;
                }
                byte |= kTouched;
                byte |= use.access == Access::Read ? 0 : kWritten;
            });
        }
        entry->second = {runs_of(bytes, [](auto byte) { return (byte & (kRead | kCode)) == 0; }),
                         runs_of(bytes, [](auto byte) { return (byte & kRead) != 0; }),
                         runs_of(bytes, [](auto byte) { return (byte & kWritten) == 0; }),
                         runs_of(bytes, [](auto byte) { return (byte & kWritten) != 0; })};
        return entry->second;
    }

    template <class Is>
    static std::vector<Run> runs_of(const std::vector<std::uint8_t>& bytes, const Is& is) {
        std::vector<Run> runs;
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            if (is(bytes[at])) {
                if (runs.empty() || runs.back().end != at) {
                    runs.push_back({at, at});
                }
                runs.back().end = at + 1;
            }
        }
        return runs;
    }

    template <class Visit>
    void visit(Address address, Bytes count, std::vector<std::uint8_t>& bytes,
               const Visit& visit_one) const {
        const std::size_t begin = offset(address);
        for (std::size_t at = begin; at < begin + static_cast<std::size_t>(count); ++at) {
            visit_one(bytes.at(at));
        }
    }

    void tell(std::uint32_t set, TileId tile, std::size_t at, const std::string& what) {
        const program::ComputeSet& step = program_.compute_sets[set];
        const std::string where = fmt::format("kernel '{}', step '{}' ", step.owner, step.name);
        if (!told_.insert(where + what).second) {
            return;
        }
        const Address address = machine_.memory.region0_begin() + static_cast<Address>(at);
        std::string segments;
        for (const auto& segment : program_.images[program_.image_of_tile[tile]].segments) {
            if (segment.address <= address &&
                address < segment.address + static_cast<Address>(segment.bytes)) {
                segments += fmt::format("{}byte {} of {} of '{}'", segments.empty() ? "" : ", ",
                                        address - segment.address, segment.bytes, segment.name);
            }
        }
        std::set<std::string> names;
        for (const program::Vertex& vertex : step.tiles[tile].vertices) {
            names.insert(program_.vertex_names[vertex.name]);
        }
        faults_.insert(fmt::format("{}{}: tile {}, {:#x} ({}), vertices {}", where, what, tile,
                                   address, segments, fmt::join(names, ", ")));
    }

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

/// Whether the uses are those of the program, of several that a plan has tried.
bool same_program(const program::Program& one, const program::Program& other) {
    const auto same_vertex = [](const program::Vertex& a, const program::Vertex& b) {
        return a.entry == b.entry && a.state_address == b.state_address;
    };
    const auto same_tile = [&](const auto& a, const auto& b) {
        return a.stub == b.stub && std::ranges::equal(a.vertices, b.vertices, same_vertex);
    };
    return std::ranges::equal(
        one.compute_sets, other.compute_sets, [&](const auto& a, const auto& b) {
            return a.name == b.name && std::ranges::equal(a.tiles, b.tiles, same_tile);
        });
}

std::set<std::string> faults_of(const std::string& name, const std::vector<std::string>& sets,
                                const std::string& forgets) {
    const auto paths = config::default_config_paths();
    const auto overrides = catalog::split_overrides(sets);
    const auto machine = spec::load_machine("bow", paths, overrides.machine).spec;
    const auto loaded = catalog::load_workload(name, paths, overrides.workload);
    const std::unique_ptr<job::Job> job = job::make_job(loaded.workload);

    std::vector<std::pair<program::Program, lower::DeclaredUses>> lowered;
    const lower::DeclaredListener listener(
        [&](const program::Program& made, lower::DeclaredUses uses) {
            program::Program sketch;
            sketch.compute_sets = made.compute_sets;
            lowered.emplace_back(std::move(sketch), std::move(uses));
        });
    const program::Program& program = job->plan(machine);
    if (program.compute_sets.empty() || job->system() != nullptr) {
        return {};
    }
    const auto found = std::ranges::find_if(
        lowered, [&](const auto& one) { return same_program(one.first, program); });
    if (found == lowered.end()) {
        return {"no lowered graph has the vertices of the program"};
    }
    lower::DeclaredUses uses = found->second;
    for (auto& tiles : uses) {
        for (auto& of_tile : tiles) {
            const auto last = std::ranges::find_if(
                of_tile.rbegin(), of_tile.rend(), [&](const lower::DeclaredUse& use) {
                    return (use.access == Access::Read) == (forgets == "read");
                });
            if (!forgets.empty() && last != of_tile.rend()) {
                of_tile.erase(std::next(last).base());
            }
        }
    }

    Twins twins(machine, program, std::move(uses));
    test::Watcher watcher;
    watcher.begun = [&](const auto& read) { job->begun(read, 1); };
    watcher.asked = [&](std::uint32_t copy, std::int64_t row, std::span<std::byte> rows,
                        const auto& read) { job->asked(copy, row, rows, read); };
    watcher.computes = [&](std::uint32_t set, TileId tile, auto memory) {
        twins.before(set, tile, memory);
    };
    watcher.computed = [&](std::uint32_t set, TileId tile, auto memory) {
        twins.after(set, tile, memory);
    };
    watcher.ended = [&](const program::Step& leaf, const auto&) { twins.moved(leaf); };
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const job::HostArray& given : job->operands()) {
        writes[given.array].assign(given.bytes.begin(), given.bytes.end());
    }
    static_cast<void>(test::run_program(machine, program, writes, watcher));
    twins.ended();
    return twins.faults();
}

} // namespace

int main(int count, char** words) {
    const std::string forgets = count == 3 && std::string(words[1]) == "--forget" ? words[2] : "";
    int faults = 0;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream parts(line);
        std::string name;
        parts >> name;
        std::vector<std::string> sets;
        for (std::string set; parts >> set;) {
            sets.push_back(set);
        }
        std::set<std::string> told;
        try {
            told = faults_of(name, sets, forgets);
        } catch (const std::exception& error) {
            told = {error.what()};
        }
        for (const std::string& fault : told) {
            std::cout << name << ": " << fault << "\n";
            ++faults;
        }
        std::cout.flush();
    }
    return faults == 0 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
#include "tests/support/declared_twins.h"

#include "base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>

namespace tessera::test {

using graph::Access;

namespace {

bool same_sets(const std::vector<program::ComputeSet>& one,
               const std::vector<program::ComputeSet>& other) {
    const auto same_vertex = [](const program::Vertex& a, const program::Vertex& b) {
        return a.entry == b.entry && a.state_address == b.state_address;
    };
    const auto same_tile = [&](const auto& a, const auto& b) {
        return a.stub == b.stub && std::ranges::equal(a.vertices, b.vertices, same_vertex);
    };
    return std::ranges::equal(one, other, [&](const auto& a, const auto& b) {
        return a.name == b.name && std::ranges::equal(a.tiles, b.tiles, same_tile);
    });
}

template <class Run, class Is>
std::vector<Run> runs_of(const std::vector<std::uint8_t>& bytes, const Is& is) {
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
void visit(std::size_t begin, Bytes count, std::vector<std::uint8_t>& bytes,
           const Visit& visit_one) {
    for (std::size_t at = begin; at < begin + static_cast<std::size_t>(count); ++at) {
        visit_one(bytes.at(at));
    }
}

} // namespace

LoweredUses::LoweredUses()
    : listener_([this](const program::Program& made, lower::DeclaredUses uses) {
          all_.push_back({made.compute_sets, std::move(uses)});
      }) {}

const lower::DeclaredUses& LoweredUses::of(const program::Program& program) const {
    const auto found = std::ranges::find_if(
        all_, [&](const Lowered& one) { return same_sets(one.sets, program.compute_sets); });
    if (found == all_.end()) {
        throw ProgramError("no lowered graph has the vertices of the program");
    }
    return found->uses;
}

DeclaredTwins::DeclaredTwins(const spec::MachineSpec& machine, const program::Program& program,
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
        if (const auto image = program.image_of_tile[tile]; image != program::Program::kNoImage) {
            for (const program::Segment& segment : program.images[image].segments) {
                end = std::max(end,
                               offset(segment.address) + static_cast<std::size_t>(segment.bytes));
            }
            tiles_.back().keep_only(
                static_cast<Bytes>(end)); // what is behind all is nobody's to read
            tiles_.back().load(program.images[image], code_);
        }
        undefined_.emplace_back(end);
    }
}

void DeclaredTwins::watch(Watcher& watcher) {
    watcher.computes = [this](std::uint32_t set, TileId tile, auto memory) {
        before(set, tile, memory);
    };
    watcher.computed = [this](std::uint32_t set, TileId tile, auto memory) {
        after(set, tile, memory);
    };
    watcher.ended = [this, others = watcher.ended](const program::Step& leaf,
                                                   const Watcher::Read& read) {
        moved(leaf);
        if (others) {
            others(leaf, read);
        }
    };
}

std::set<std::string> DeclaredTwins::faults() {
    for (const program::Tensor& tensor : program_.tensors) {
        for (const program::Piece& piece : tensor.pieces) {
            check(tensor, piece, piece.address, 0);
        }
    }
    return faults_;
}

void DeclaredTwins::before(std::uint32_t set, TileId tile, std::span<const std::byte> memory) {
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

void DeclaredTwins::after(std::uint32_t set, TileId tile, std::span<const std::byte> memory) {
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

void DeclaredTwins::moved(const program::Step& leaf) {
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
                     fmt::format("leaves bytes undefined that stream copy '{}' writes", copy.name));
            }
        }
    }
}

std::size_t DeclaredTwins::offset(Address address) const {
    return static_cast<std::size_t>(address - machine_.memory.region0_begin());
}

std::span<std::byte> DeclaredTwins::twin_of(TileId tile) {
    return std::as_writable_bytes(std::span(memory_[tile])).first(undefined_[tile].size());
}

std::span<std::uint32_t> DeclaredTwins::undefined(TileId tile, Address address, Bytes bytes) {
    return std::span(undefined_[tile]).subspan(offset(address), static_cast<std::size_t>(bytes));
}

void DeclaredTwins::check(const program::Tensor& tensor, const program::Piece& piece,
                          std::int64_t address, std::size_t dim) {
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

const DeclaredTwins::Meaning& DeclaredTwins::meaning_of(std::uint32_t set, TileId tile) {
    const auto [entry, is_new] = known_.try_emplace({set, tile});
    if (!is_new) {
        return entry->second;
    }
    enum : std::uint8_t { kTouched = 1, kRead = 2, kCode = 4, kWritten = 8 };
    std::vector<std::uint8_t> bytes(undefined_[tile].size());
    for (const program::Segment& segment : program_.images[program_.image_of_tile[tile]].segments) {
        if (segment.kind == program::SegmentKind::Code) {
            visit(offset(segment.address), segment.bytes, bytes,
                  [](std::uint8_t& byte) { byte |= kTouched | kCode; });
        } else if (segment.kind == program::SegmentKind::Stack) {
            visit(offset(segment.address), segment.bytes, bytes,
                  [](std::uint8_t& byte) { byte |= kTouched | kWritten; });
        }
    }
    for (const lower::DeclaredUse& use : uses_.at(set).at(tile)) {
        visit(offset(use.range.address), use.range.bytes, bytes, [&](std::uint8_t& byte) {
            const bool reads = use.access == Access::Read || use.access == Access::Update;
            if ((byte & kTouched) == 0) {
                byte |= use.access == Access::Write ? 0 : reads ? kRead : kCode;
            }
            byte |= kTouched;
            byte |= use.access == Access::Read ? 0 : kWritten;
        });
    }
    entry->second = {runs_of<Run>(bytes, [](auto byte) { return (byte & (kRead | kCode)) == 0; }),
                     runs_of<Run>(bytes, [](auto byte) { return (byte & kRead) != 0; }),
                     runs_of<Run>(bytes, [](auto byte) { return (byte & kWritten) == 0; }),
                     runs_of<Run>(bytes, [](auto byte) { return (byte & kWritten) != 0; })};
    return entry->second;
}

void DeclaredTwins::tell(std::uint32_t set, TileId tile, std::size_t at, const std::string& what) {
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
    faults_.insert(fmt::format("{}{}: tile {}, {:#x} ({}), vertices {}", where, what, tile, address,
                               segments, fmt::join(names, ", ")));
}

} // namespace tessera::test

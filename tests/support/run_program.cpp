// SPDX-License-Identifier: MIT
#include "tests/support/run_program.h"

#include "base/error.h"
#include "models/exchange/core/fabric.h"
#include "models/tile/core/tile_core.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>

namespace tessera::test {
namespace {

/// Calls visit(host index, byte offset in the tile) for every element of a piece.
template <typename Visit> void for_each_element(const program::Piece& piece, const Visit& visit) {
    std::vector<std::int64_t> index(piece.dims.size(), 0);
    while (true) {
        std::int64_t host = piece.host_offset;
        std::int64_t at = piece.address;
        for (std::size_t d = 0; d < index.size(); ++d) {
            host += index[d] * piece.dims[d].host_stride;
            at += index[d] * piece.dims[d].tile_stride;
        }
        visit(host, static_cast<Address>(at));
        std::size_t d = index.size();
        while (d > 0 && ++index[d - 1] == piece.dims[d - 1].count) {
            index[--d] = 0;
        }
        if (d == 0) {
            return;
        }
    }
}

class Runner {
public:
    Runner(const spec::MachineSpec& machine, const program::Program& program,
           const isa::Engine& engine, const Watcher& watcher)
        : machine_(machine), program_(program), watcher_(watcher), code_(program.codelets) {
        for (const program::RemoteBuffer& buffer : program.remote_buffers) {
            remote_.emplace_back(static_cast<std::size_t>(buffer.rows * buffer.row_bytes));
        }
        const auto tiles = static_cast<std::size_t>(machine.chip.tiles);
        for (std::size_t tile = 0; tile < tiles; ++tile) {
            memory_.emplace_back(static_cast<std::size_t>(machine.memory.bytes()) / 8);
            tiles_.emplace_back(machine, static_cast<TileId>(tile),
                                reinterpret_cast<std::byte*>(memory_.back().data()));
            tiles_.back().set_engine(engine);
            const std::uint32_t image = program.image_of_tile[tile];
            if (image != program::Program::kNoImage) {
                tiles_.back().load(program.images[image], code_);
            }
        }
    }

    void write(const program::Tensor& tensor, const std::vector<std::byte>& values) {
        const auto bytes = static_cast<std::size_t>(bytes_of(tensor.type));
        for (const program::Piece& piece : tensor.pieces) {
            for_each_element(piece, [&](std::int64_t host, Address at) {
                std::memcpy(tiles_[piece.tile].memory(at, static_cast<Bytes>(bytes)).data(),
                            &values.at(static_cast<std::size_t>(host) * bytes), bytes);
            });
        }
    }

    [[nodiscard]] std::vector<std::byte> read(const program::Tensor& tensor) {
        const auto bytes = static_cast<std::size_t>(bytes_of(tensor.type));
        const std::int64_t elements = std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                                      std::int64_t{1}, std::multiplies<>{});
        std::vector<std::byte> values(static_cast<std::size_t>(elements) * bytes, std::byte{0x7e});
        for (const program::Piece& piece : tensor.pieces) {
            for_each_element(piece, [&](std::int64_t host, Address at) {
                std::memcpy(&values.at(static_cast<std::size_t>(host) * bytes),
                            tiles_[piece.tile].memory(at, static_cast<Bytes>(bytes)).data(), bytes);
            });
        }
        return values;
    }

    void write(program::ArrayId array, const std::vector<std::byte>& values) {
        if (array.kind == program::ArrayId::Kind::Tensor) {
            write(program_.tensors.at(array.index), values);
        } else {
            std::ranges::copy(values, remote_.at(array.index).begin());
        }
    }

    [[nodiscard]] Watcher::Read read_now() {
        return [this](program::ArrayId array) {
            return array.kind == program::ArrayId::Kind::Tensor
                       ? read(program_.tensors.at(array.index))
                       : remote_.at(array.index);
        };
    }
    [[nodiscard]] const std::vector<std::byte>& remote(std::size_t buffer) const {
        return remote_.at(buffer);
    }

    void execute(const program::Step& step) {
        switch (step.kind) {
        case program::Step::Kind::Sequence:
        case program::Step::Kind::Repeat:
            for (std::uint32_t round = 0; round < step.count; ++round) {
                if (step.only && !step.only->has(round_)) {
                    continue;
                }
                const std::uint32_t outer = round_;
                round_ = step.kind == program::Step::Kind::Repeat ? round : round_;
                for (const program::TileValue& word : step.rounds) {
                    std::memcpy(tiles_[word.tile].memory(word.address, sizeof round).data(), &round,
                                sizeof round);
                }
                execute_children(step);
                round_ = outer;
            }
            break;
        case program::Step::Kind::While:
            while (word_of(step) != 0) {
                execute_children(step);
            }
            break;
        case program::Step::Kind::If:
            if (const std::size_t side = word_of(step) != 0 ? 0 : 1; side < step.children.size()) {
                execute(step.children[side]);
            }
            break;
        case program::Step::Kind::ComputeSet:
            compute(step.index);
            tell_ended(step);
            break;
        case program::Step::Kind::Exchange:
            exchange(program_.exchanges[step.index]);
            tell_ended(step);
            break;
        case program::Step::Kind::Sync:
            outcome.cycles.sync += machine_.sync.internal_cycles;
            break;
        case program::Step::Kind::StreamCopy:
        case program::Step::Kind::StreamStart:
            copy(step);
            tell_ended(step);
            break;
        case program::Step::Kind::StreamWait:
            break;
        default:
            throw ProgramError("run_program: a step that kernels do not use");
        }
    }

    RunOutcome outcome;

private:
    void tell_ended(const program::Step& leaf) {
        if (watcher_.ended) {
            watcher_.ended(leaf, read_now());
        }
    }
    void execute_children(const program::Step& step) {
        for (const program::Step& child : step.children) {
            execute(child);
        }
    }
    [[nodiscard]] std::uint32_t word_of(const program::Step& step) {
        std::uint32_t word = 0;
        std::memcpy(&word, tiles_[step.value->tile].memory(step.value->address, sizeof word).data(),
                    sizeof word);
        return word;
    }
    void tell(const Watcher::Computes& whom, std::uint32_t set, std::size_t tile) {
        if (whom) {
            whom(set, static_cast<TileId>(tile), std::as_bytes(std::span(memory_[tile])));
        }
    }
    void compute(std::uint32_t number) {
        const program::ComputeSet& set = program_.compute_sets[number];
        Cycles slowest = 0;
        for (std::size_t tile = 0; tile < set.tiles.size(); ++tile) {
            if (set.tiles[tile].stub != 0) {
                tell(watcher_.computes, number, tile);
                slowest = std::max(slowest, tiles_[tile].run(set.tiles[tile].stub).cycles);
                tell(watcher_.computed, number, tile);
            }
        }
        outcome.cycles.compute += machine_.control.step_cycles + slowest;
        outcome.step_cycles.push_back(slowest);
    }

    void exchange(const program::Exchange& exchange) {
        const auto reader = [this](TileId tile, Address address, std::span<std::uint32_t> words) {
            std::memcpy(words.data(),
                        tiles_[tile].memory(address, static_cast<Bytes>(words.size_bytes())).data(),
                        words.size_bytes());
        };
        const auto fabric = exchange::execute_rows(machine_, exchange, reader);
        for (const exchange::CopyRun& copy : fabric.copies) {
            std::memcpy(
                tiles_[copy.destination_tile].memory(copy.destination_address, copy.bytes).data(),
                tiles_[copy.source_tile].memory(copy.source_address, copy.bytes).data(),
                static_cast<std::size_t>(copy.bytes));
        }
        const Cycles longest =
            *std::max_element(fabric.row_cycles.begin(), fabric.row_cycles.end());
        outcome.cycles.exchange += machine_.exchange.prologue_cycles + longest;
        outcome.cycles.sync += machine_.sync.internal_cycles;
        outcome.step_cycles.push_back(longest);
    }

    /// Moves the rows at once.
    void copy(const program::Step& step) {
        const program::StreamCopy& told = program_.stream_copies[step.index];
        const program::RemoteBuffer& buffer = program_.remote_buffers[told.buffer];
        std::vector<std::byte>& there = remote_[told.buffer];
        const std::int64_t first =
            step.value ? std::int64_t{word_of(step)} : step.row + step.row_a_round * round_;
        const bool reads = told.direction == program::StreamCopy::Direction::Read;
        if (reads && watcher_.asked && buffer.place == program::RemoteBuffer::Place::Host) {
            const std::int64_t rows = told.rows_from.empty() ? told.rows : buffer.rows;
            watcher_.asked(
                step.index, first,
                std::span(there).subspan(static_cast<std::size_t>(first * buffer.row_bytes),
                                         static_cast<std::size_t>(rows * buffer.row_bytes)),
                read_now());
        }
        for (const program::StreamPiece& piece : told.pieces) {
            std::int64_t row = first + piece.offset / buffer.row_bytes;
            for (const program::RowNumbers& numbers : told.rows_from) {
                const std::int64_t of_copy = piece.offset / buffer.row_bytes - numbers.first;
                if (numbers.tile == piece.tile && of_copy >= 0 && of_copy < numbers.count) {
                    std::uint32_t word = 0;
                    const Address at = numbers.address + static_cast<Address>(4 * of_copy);
                    std::memcpy(&word, tiles_[piece.tile].memory(at, sizeof word).data(),
                                sizeof word);
                    row = first + numbers.base + word;
                }
            }
            const std::span<std::byte> remote = std::span(there).subspan(
                static_cast<std::size_t>(row * buffer.row_bytes + piece.offset % buffer.row_bytes),
                static_cast<std::size_t>(piece.bytes));
            const std::span<std::byte> local =
                tiles_[piece.tile].memory(piece.address, piece.bytes);
            std::ranges::copy(reads ? remote : local, (reads ? local : remote).begin());
        }
    }

    const spec::MachineSpec& machine_;
    const program::Program& program_;
    const Watcher& watcher_;
    std::vector<std::vector<std::byte>> remote_;
    std::uint32_t round_ = 0; ///< of the innermost repeat
    tile::CodeCache code_;
    std::vector<std::vector<std::uint64_t>> memory_;
    std::vector<tile::TileCore> tiles_;
};

bool overlap(const program::Segment& left, const program::Segment& right) {
    return left.lifetime.meets(right.lifetime) &&
           left.address < right.address + static_cast<Address>(right.bytes) &&
           right.address < left.address + static_cast<Address>(left.bytes);
}

void check_segments(const spec::MachineSpec& machine, const program::Program& program,
                    std::vector<std::string>& faults) {
    for (const program::Image& image : program.images) {
        for (auto segment = image.segments.begin(); segment != image.segments.end(); ++segment) {
            if (segment->address < machine.memory.region0_begin() ||
                segment->address + static_cast<Address>(segment->bytes) > machine.memory.end()) {
                faults.push_back("segment '" + segment->name + "' leaves memory");
            }
            if (segment->data != nullptr && segment->lifetime.first != 0) {
                faults.push_back("segment '" + segment->name + "' has data before it is kept");
            }
            for (auto other = image.segments.begin(); other != segment; ++other) {
                if (overlap(*segment, *other)) {
                    faults.push_back("segments '" + other->name + "' and '" + segment->name +
                                     "' overlap");
                }
            }
        }
    }
}

} // namespace

program::ArrayId tensor_named(const program::Program& program, const std::string& name) {
    std::vector<program::ArrayId> found;
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        if (program.tensors[i].name == name) {
            found.push_back(program::tensor(i));
        }
    }
    if (found.size() != 1) {
        throw ProgramError("tensor_named: not one tensor '" + name + "'");
    }
    return found.front();
}

RunOutcome run_program(const spec::MachineSpec& machine, const program::Program& program,
                       const std::map<std::string, std::vector<std::byte>>& operands,
                       const isa::Engine& engine) {
    std::map<program::ArrayId, std::vector<std::byte>> arrays;
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        const auto found = operands.find(program.tensors[i].name);
        if (found != operands.end()) {
            arrays.emplace(program::tensor(i), found->second);
        }
    }
    return run_program(machine, program, arrays, engine);
}

namespace {

RunOutcome run_watched(const spec::MachineSpec& machine, const program::Program& program,
                       const std::map<program::ArrayId, std::vector<std::byte>>& operands,
                       const isa::Engine& engine, const Watcher& watcher) {
    Runner runner(machine, program, engine, watcher);
    for (const auto& [array, bytes] : operands) {
        runner.write(array, bytes);
    }
    if (watcher.begun) {
        watcher.begun(runner.read_now());
    }
    runner.execute(program.control);
    for (const program::Tensor& tensor : program.tensors) {
        std::vector<std::byte> bytes = runner.read(tensor);
        runner.outcome.arrays.emplace(program::tensor(runner.outcome.arrays.size()), bytes);
        if (tensor.name == "c" && tensor.type == ElementType::F16) {
            runner.outcome.result.resize(bytes.size() / 2);
            std::memcpy(runner.outcome.result.data(), bytes.data(), bytes.size());
        }
        runner.outcome.tensors.emplace(tensor.name, std::move(bytes));
    }
    for (std::size_t i = 0; i < program.remote_buffers.size(); ++i) {
        runner.outcome.arrays.emplace(program::remote_buffer(i), runner.remote(i));
    }
    return std::move(runner.outcome);
}

} // namespace

RunOutcome run_program(const spec::MachineSpec& machine, const program::Program& program,
                       const std::map<program::ArrayId, std::vector<std::byte>>& operands,
                       const isa::Engine& engine) {
    return run_watched(machine, program, operands, engine, {});
}

RunOutcome run_program(const spec::MachineSpec& machine, const program::Program& program,
                       const std::map<program::ArrayId, std::vector<std::byte>>& operands,
                       const Watcher& watcher) {
    return run_watched(machine, program, operands, isa::engine(), watcher);
}

RunOutcome run_program(const spec::MachineSpec& machine, const program::Program& program,
                       const std::map<std::string, std::vector<std::uint16_t>>& operands) {
    std::map<std::string, std::vector<std::byte>> bytes;
    for (const auto& [name, values] : operands) {
        const auto view = std::as_bytes(std::span(values));
        bytes.emplace(name, std::vector<std::byte>(view.begin(), view.end()));
    }
    return run_program(machine, program, bytes);
}

std::vector<std::string> faults_of(const spec::MachineSpec& machine,
                                   const program::Program& program) {
    std::vector<std::string> faults;
    check_segments(machine, program, faults);
    for (const program::Tensor& tensor : program.tensors) {
        const std::int64_t elements = std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                                      std::int64_t{1}, std::multiplies<>{});
        std::vector<std::optional<TileId>> first(static_cast<std::size_t>(elements));
        std::map<std::int64_t, std::set<TileId>> others; // of elements that stand on several tiles
        bool is_twice = false;
        for (const program::Piece& piece : tensor.pieces) {
            if (std::ranges::any_of(piece.dims, [](const auto& dim) { return dim.count < 1; })) {
                faults.push_back("tensor '" + tensor.name + "' has a piece of nothing");
            }
            for_each_element(piece, [&](std::int64_t host, Address) {
                auto& tile = first.at(static_cast<std::size_t>(host));
                if (!tile) {
                    tile = piece.tile;
                } else if (*tile == piece.tile || !others[host].insert(piece.tile).second) {
                    is_twice = true;
                }
            });
        }
        // an operand may leave out what no vertex reads
        const bool is_missing = tensor.kept && !std::ranges::all_of(first, [](const auto& one) {
                                    return one.has_value();
                                });
        if (is_twice || is_missing) {
            faults.push_back("tensor '" + tensor.name +
                             "' does not hold every element once on a tile");
        }
    }
    return faults;
}

} // namespace tessera::test

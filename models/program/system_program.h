// SPDX-License-Identifier: MIT
// The programs of several chips, and how they belong together: plain data. Chips of one class run one
// Program, in which nothing says which of them it is.
#pragma once

#include "models/program/program.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::program {

/// The other end of a channel.
struct Peer {
    std::uint32_t chip = 0;
    std::uint32_t channel = 0; ///< of that chip

    friend bool operator==(const Peer&, const Peer&) = default;
};

/// Words that each chip finds in the tensor of that name when the run starts, row-major: its rank.
struct Ranks {
    std::string tensor;
    std::vector<std::vector<std::int32_t>> words_of_chip;
};

struct SystemProgram {
    std::vector<std::shared_ptr<const Program>> programs;
    std::vector<std::size_t> program_of_chip;
    std::vector<std::vector<Peer>> peers;          ///< by chip, then channel
    std::vector<std::vector<std::uint32_t>> zones; ///< by zone, then chip: its group
    std::vector<Ranks> ranks;

    [[nodiscard]] std::size_t chips() const { return program_of_chip.size(); }
    [[nodiscard]] const Program& of_chip(std::size_t chip) const {
        return *programs.at(program_of_chip.at(chip));
    }
};

} // namespace tessera::program

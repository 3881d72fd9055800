// SPDX-License-Identifier: MIT
// One point of a vertex file, assembled, linked and laid out in the tile's memory: ready to run.
#pragma once

#include "base/error.h"
#include "kernels/vertex/evaluation.h"
#include "kernels/vertex/value_type.h"
#include "kernels/vertex/values.h"
#include "models/isa/assembler.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "sim/vertex/placement.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::vertex {

/// What the command line adds to the file.
struct BenchOptions {
    std::vector<std::string> include_directories;
    std::vector<std::string> defines;          ///< X or X=text
    std::map<std::string, std::string> expect; ///< `.npy` file by array
};

struct BenchArray {
    std::string name;
    const ValueType* type = nullptr;
    ArrayShape shape;
    Address address = 0;
    Bytes bytes = 0;
    std::vector<std::byte> initial;
    std::optional<std::vector<double>> expected; ///< after the run
};

/// A register that a call finds set.
struct InitialRegister {
    unsigned place = 0; ///< isa::place
    std::uint32_t value = 0;
};

struct BenchCall {
    std::string entry_name;
    Kind kind = Kind::Supervisor;
    Address entry = 0;
    Address state = 0;
    Address returns_to = 0; ///< of a supervisor vertex: in the stub, behind its call
    bool keeps_m9 = true;   ///< of a supervisor vertex: to be checked
};

/// What $m9 holds while supervisor vertices run, which keep it: no address of code or data.
inline constexpr std::uint32_t kFrameMark = 0xfedcb;

/// One compute phase: a stub that calls the entries and returns.
struct BenchPhase {
    Address stub = 0;
    Address stub_end = 0; ///< behind its last instruction
    std::vector<BenchCall> calls;
    std::vector<InitialRegister> registers; ///< of whoever runs the first call
};

struct Bench {
    std::vector<std::pair<std::string, double>> parameters;
    std::vector<program::Codelet> codelets; ///< one: the sources
    program::Image image;
    Address setup = 0; ///< stub that sets the workers' scratch; not timed
    std::vector<BenchPhase> phases;
    std::vector<BenchArray> arrays;
    /// Words by which contexts synchronise: address and bytes.
    std::vector<std::pair<Address, Bytes>> synchronising;
    std::vector<Placed> memory;        ///< all that lies in memory, ascending addresses
    std::vector<std::string> warnings; ///< of the assembler
    /// Symbols that no source defines, the instructions that need them, and what is wrong with one
    /// that is executed.
    std::vector<isa::UndefinedSymbol> undefined;
    std::vector<Address> undefined_uses; ///< ascending
    std::optional<ConfigError> undefined_error;
    Bytes code_bytes = 0; ///< of the sources, without stubs
};

/// @throws ConfigError (the file or a source is wrong), IoError, DoesNotFit
[[nodiscard]] Bench lay_out(const LoadedVertex& loaded, const spec::MachineSpec& machine,
                            const Point& point, const BenchOptions& options);

} // namespace tessera::vertex

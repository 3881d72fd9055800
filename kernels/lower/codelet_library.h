// SPDX-License-Identifier: MIT
// The tile programs a kernel needs, assembled and linked once for a machine.
#pragma once

#include "kernels/graph/graph.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <string>

namespace tessera::lower {

class CodeletLibrary {
public:
    /// Links the graph's sources (`matmul_amp_f16`, `copy`, ...) at the start of region 0 for the
    /// machine's number of workers. @throws NotModelled with source and instruction if a source
    /// needs an instruction that the machine's generation lacks; ProgramError for a source that
    /// does not exist
    CodeletLibrary(const spec::MachineSpec& machine, const graph::Graph& graph);

    [[nodiscard]] const program::Codelet& codelet() const { return codelet_; }
    /// Address of a global symbol; a name that is not there is a broken invariant.
    [[nodiscard]] Address entry(const std::string& symbol) const;
    [[nodiscard]] Bytes bytes() const { return static_cast<Bytes>(codelet_.words.size()) * 4; }

private:
    program::Codelet codelet_;
};

} // namespace tessera::lower

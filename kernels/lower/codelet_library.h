// SPDX-License-Identifier: MIT
// The tile programs a kernel needs, assembled and linked once for a machine.
#pragma once

#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <string>
#include <vector>

namespace tessera::lower {

class CodeletLibrary {
public:
    /// Links the named sources (`matmul_amp_f16`, `copy`, ...) at the start of region 0 for the
    /// machine's number of workers. @throws NotModelled naming source and instruction where a
    /// source needs what the machine's generation lacks
    CodeletLibrary(const spec::MachineSpec& machine, const std::vector<std::string>& sources);

    [[nodiscard]] const program::Codelet& codelet() const { return codelet_; }
    /// Address of a global symbol; a name that is not there is a broken invariant.
    [[nodiscard]] Address entry(const std::string& symbol) const;
    [[nodiscard]] Bytes bytes() const { return static_cast<Bytes>(codelet_.words.size()) * 4; }

private:
    program::Codelet codelet_;
};

} // namespace tessera::lower

// SPDX-License-Identifier: MIT
// Defines a step with a codelet of the user's own before it has a machine: its vertex file with the
// parameters that the tensors decide, which arrays are tensors, and how these are divided.
#pragma once

#include "base/units.h"
#include "kernels/family/family.h"
#include "kernels/vertex/evaluation.h"
#include "kernels/vertex/spec.h"
#include "kernels/vertex/value_type.h"
#include "kernels/workload/pipeline_workload.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::own_codelet {

/// An array of the vertex file. One that is no tensor has the file's values at the start of the run.
struct Array {
    vertex::ArraySpec spec;
    const vertex::ValueType* type = nullptr;
    std::optional<std::size_t> input = {};  ///< of the step
    std::optional<std::size_t> output = {}; ///< of the step; with an input it is written over
    /// Of a tensor: elements in a unit. 0: it is not split, and stands whole on every tile.
    std::int64_t unit_elements = 0;

    [[nodiscard]] bool is_tensor() const { return input || output; }
};

/// Tensors are split into units, neighbouring ones for a tile: rows, elements, or what one tile has.
struct Definition {
    std::string pointer;     ///< of the step in the workload file
    std::string source_path; ///< of the codelet
    std::string vertex_path;
    vertex::LoadedVertex loaded; ///< with the parameters that the step and its tensors give
    std::vector<Array> arrays;   ///< in the order of the file
    std::vector<family::TensorType> inputs;
    std::vector<family::TensorType> outputs;
    std::string share;      ///< the parameter that is a tile's units; empty: each tile has one
    std::int64_t units = 0; ///< of all tiles
    std::int64_t grain = 1; ///< units of a tile are a multiple of it, but for the last tile's
    bool has_whole_grains = true; ///< those of the last tile, too
    bool expects_here = false;    ///< the step says what is expected, not the vertex file

    /// The vertex file where a tile has so many units.
    [[nodiscard]] vertex::LoadedVertex with(std::int64_t tile_units) const;
    /// Calls `use` with the file's expressions at so many units. Mistakes name the share; those of
    /// what the step itself expects have its JSON pointer. @throws ConfigError
    void evaluate(const spec::MachineSpec& machine, std::int64_t tile_units,
                  const std::function<void(const vertex::LoadedVertex& file,
                                           vertex::Evaluation& evaluation)>& use) const;
};

/// @throws ConfigError as make() does; IoError
[[nodiscard]] Definition define(const workload::OwnCodelet& told, const std::string& pointer,
                                const std::vector<family::TensorType>& inputs);

} // namespace tessera::own_codelet

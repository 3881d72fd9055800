// SPDX-License-Identifier: MIT
// Collects what a kernel puts on its tiles, places the code zone and makes a Program of it.
//
//   code zone: | codelets | stubs, equal ones once | rows of exchange 0, 1, ... | 64 bytes of fetch
//   window |
#pragma once

#include "kernels/plan/codelet_library.h"
#include "kernels/plan/memory_plan.h"
#include "models/program/program.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::plan {

class ImageBuilder {
public:
    ImageBuilder(const spec::MachineSpec& machine, const CodeletLibrary& library, std::string name);

    /// Zero-filled memory at the start of the run.
    void add_zero(TileId tile, program::SegmentKind kind, const std::string& name, Address address,
                  Bytes bytes);
    /// 32-bit words of vertex state or metadata.
    void add_words(TileId tile, program::SegmentKind kind, const std::string& name, Address address,
                   const std::vector<std::uint32_t>& words);
    void add_bytes(TileId tile, program::SegmentKind kind, const std::string& name, Address address,
                   program::SharedBytes bytes);

    /// Steps run in the order in which they are added.
    void add_compute_set(const std::string& name,
                         std::vector<std::vector<program::Vertex>> vertices_of_tile);
    void add_exchange(program::Exchange exchange);
    void add_tensor(program::Tensor tensor);
    /// Index of a vertex name.
    [[nodiscard]] std::uint32_t vertex_name(const std::string& name);

    /// Bytes that the code zone takes so far.
    [[nodiscard]] Bytes code_bytes() const;
    /// Places stubs and rows; the code zone must hold `code_bytes()`.
    [[nodiscard]] program::Program build();

private:
    [[nodiscard]] program::SharedBytes stub(const std::vector<program::Vertex>& vertices);
    [[nodiscard]] std::vector<std::vector<Address>> row_addresses(Address& end) const;
    void add_row_segments();

    const spec::MachineSpec& machine_;
    const CodeletLibrary& library_;
    program::Program program_;
    std::vector<program::Image> images_;
    std::map<std::vector<std::uint32_t>, program::SharedBytes> stubs_;
    Address next_code_ = 0;
    std::map<std::string, std::uint32_t> names_;
};

} // namespace tessera::plan

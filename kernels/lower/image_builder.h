// SPDX-License-Identifier: MIT
// Collects what a kernel puts on its tiles, places the code zone and makes a Program of it.
//
//   code zone: | codelets | stubs, equal ones once | rows of exchange 0, 1, ... | fetch window |
#pragma once

#include "kernels/lower/codelet_library.h"
#include "kernels/lower/memory_plan.h"
#include "models/program/program.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::lower {

class ImageBuilder {
public:
    ImageBuilder(const spec::MachineSpec& machine, const CodeletLibrary& library, std::string name);

    /// Memory that the program or the host writes; zero until then, if nothing stood there before.
    void add_zero(TileId tile, program::SegmentKind kind, const std::string& name, Address address,
                  Bytes bytes, program::Lifetime lifetime = {});
    /// 32-bit words of vertex state or metadata, there from the start.
    void add_words(TileId tile, program::SegmentKind kind, const std::string& name, Address address,
                   const std::vector<std::uint32_t>& words, program::Lifetime lifetime = {});
    void add_bytes(TileId tile, program::SegmentKind kind, const std::string& name, Address address,
                   program::SharedBytes bytes, program::Lifetime lifetime = {});

    /// Steps run in the order in which they are added.
    void add_compute_set(const std::string& name, program::Role role, const std::string& owner,
                         std::vector<std::vector<program::Vertex>> vertices_of_tile);
    void add_exchange(program::Exchange exchange);
    void add_tensor(program::Tensor tensor);
    /// Index of a vertex name.
    [[nodiscard]] std::uint32_t vertex_name(const std::string& name);

    /// What any program with these codelets takes.
    [[nodiscard]] static CodeRoom first_code_room(const spec::MachineSpec& machine,
                                                  const CodeletLibrary& library);
    /// What the code zone holds so far.
    [[nodiscard]] CodeRoom code_room() const;
    /// Places stubs and rows; the code zone must hold `code_room()`.
    [[nodiscard]] program::Program build();

private:
    [[nodiscard]] program::SharedBytes stub(const std::vector<program::Vertex>& vertices);
    /// The exchange whose row of the same tile has the same words; `own` where there is none.
    [[nodiscard]] std::uint32_t home_of_row(const program::ExchangeRow& row,
                                            std::uint32_t own) const;
    void add_row_segments();
    /// The next address of the code zone with room for so many bytes.
    [[nodiscard]] Address place_in_zone(const std::string& name, program::SegmentKind kind,
                                        Bytes bytes);

    const spec::MachineSpec& machine_;
    const CodeletLibrary& library_;
    program::Program program_;
    std::vector<program::Image> images_;
    std::map<std::vector<std::uint32_t>, program::SharedBytes> stubs_;
    MemoryPlan zone_; ///< codelets, stubs and rows
    Address codelets_ = 0;
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>
        rows_of_tile_; ///< (exchange, row) of each row that stands on the tile
    std::vector<std::vector<std::uint32_t>> row_homes_; ///< by exchange and row: home_of_row
    std::vector<Bytes> row_bytes_;                      ///< by exchange: its longest new row
    std::map<std::string, std::uint32_t> names_;
};

} // namespace tessera::lower

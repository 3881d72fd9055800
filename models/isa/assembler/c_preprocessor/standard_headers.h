// SPDX-License-Identifier: MIT
// The texts of models/isa/include, which are part of the library.
#pragma once

#include <span>
#include <string_view>

namespace tessera::isa::assembly::cpp {

struct StandardHeader {
    std::string_view name; ///< as included: poplar/TileConstants.hpp
    std::string_view text;
};

[[nodiscard]] std::span<const StandardHeader> standard_headers();

} // namespace tessera::isa::assembly::cpp

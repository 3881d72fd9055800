// SPDX-License-Identifier: MIT
// What each tile's memory holds at the start. Bytes that tiles have alike stand once.
#pragma once

#include "kernels/lower/binding.h"
#include "kernels/lower/code_zone.h"
#include "kernels/lower/rows.h"
#include "kernels/lower/stub.h"
#include "models/program/program.h"

namespace tessera::lower {

/// Makes the images of a program whose compute sets and exchanges have their places.
void make_images(program::Program& program, const Places& places, const CodeZone& zone,
                 const Stubs& stubs, const RowHomes& rows, std::size_t tiles);

} // namespace tessera::lower

// SPDX-License-Identifier: MIT
// The constants of poplar/TileConstants.hpp under their other name.
#include <poplar/TileConstants.hpp>

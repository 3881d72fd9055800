// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/family/product.h"
#include "kernels/graph/graph.h"

namespace tessera::matmul {

/// A product as a graph on tiles from 0 on; `division` lacks what exchanges take.
struct Planned {
    graph::Graph graph;
    family::Division division;
};

} // namespace tessera::matmul

// SPDX-License-Identifier: MIT
// Nothing: the parsed headers of TesseraTargets.cmake need a target that they belong to.

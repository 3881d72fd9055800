// SPDX-License-Identifier: MIT
// The reader of a build without libonnx.
#include "base/error.h"
#include "sim/importer/onnx_reader.h"

namespace tessera::importer {
namespace {

[[noreturn]] void refuse() {
    throw NotModelled("import: not modelled: this build has no reader of ONNX, as libonnx was not "
                      "there when it was made; see docs/onnx.md");
}

} // namespace

bool reads_onnx() {
    return false;
}

Model read_onnx(std::string_view /*bytes*/, const std::string& /*file_name*/,
                const ExternalBytes& /*external*/) {
    refuse();
}

Model read_onnx_file(const std::string& /*path*/) {
    refuse();
}

} // namespace tessera::importer

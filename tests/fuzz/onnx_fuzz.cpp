// SPDX-License-Identifier: MIT
// Any bytes are imported up to the text of a pipeline, or give a ConfigError that names the file. The text is
// JSON, and known tensors have as many bytes as they say. The node models of libonnx-testdata are good files
// to begin with.
#include "base/error.h"
#include "sim/importer/onnx_reader.h"
#include "sim/importer/pipeline_text.h"
#include "sim/importer/translate.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

constexpr std::int64_t kMostOutside = 1 << 16; ///< bytes of a tensor in a file beside the model

std::string outside(const std::string& location, std::int64_t first, std::int64_t count) {
    if (count > kMostOutside) {
        throw tessera::IoError("cannot read " + location);
    }
    return std::string(static_cast<std::size_t>(count), static_cast<char>(first));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace tessera::importer;
    const std::string_view text(reinterpret_cast<const char*>(data), bytes);
    try {
        const Model model = read_onnx(text, "fuzz", outside);
        const Made made = translate(model, {{{"batch", 2}, {"N", 3}}, {}}, "fuzz");
        const auto pipeline =
            nlohmann::json::parse(pipeline_text("fuzz.onnx", made, "fuzz.safetensors"));
        TESSERA_ASSERT(pipeline["steps"].size() == made.steps.size());
        TESSERA_ASSERT(!values_head(made.known).empty());
        for (const Made::Known& one : made.known) {
            const Elements& elements = *one.elements;
            TESSERA_ASSERT(elements.count() == product_of(elements.shape));
            TESSERA_ASSERT(pipeline["tensors"].contains(one.tensor));
        }
    } catch (const tessera::ConfigError& error) {
        TESSERA_ASSERT(!error.diagnostics().empty());
        for (const auto& diagnostic : error.diagnostics()) {
            TESSERA_ASSERT(diagnostic.file == "fuzz");
        }
    } catch (const tessera::IoError&) {
    }
    return 0;
}

// SPDX-License-Identifier: MIT
// Any bytes either give a document whose root has an origin, or one mistake with a place.
#include "base/config/document.h"
#include "base/error.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    try {
        const auto document = tessera::config::parse_document(
            std::string_view(reinterpret_cast<const char*>(data), bytes), "fuzz.json");
        TESSERA_ASSERT(document.origins.at("").line >= 1);
    } catch (const tessera::ConfigError& error) {
        TESSERA_ASSERT(error.diagnostics().size() == 1);
        TESSERA_ASSERT(error.diagnostics().front().line >= 1);
    }
    return 0;
}

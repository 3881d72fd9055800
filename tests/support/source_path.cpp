// SPDX-License-Identifier: MIT
#include "tests/support/source_path.h"

namespace tessera::test {

// The only object of the tests that knows where the project stands.
std::string source_path(const std::string& relative) {
    return std::string(TESSERA_SOURCE_DIR "/") + relative;
}

} // namespace tessera::test

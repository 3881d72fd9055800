// SPDX-License-Identifier: MIT
// Pipelines read with toy families.
#pragma once

#include "kernels/catalog/load.h"
#include "kernels/catalog/resolve.h"
#include "tests/kernels/catalog/toy_families.h"
#include "tests/unit/base/config/scratch.h"

#include <string>

namespace tessera::test {

inline const config::Shape& toy_shape() {
    static const config::Shape shape = catalog::workload_shape_of(toy_families());
    return shape;
}

/// `text` as the file `a.json` in a folder where nothing else is.
inline catalog::LoadedWorkload load_text(const std::string& text, const Lines& sets = {},
                                         const std::string& file = "a.json") {
    return catalog::load_workload(config::parse_document(text, "a.json"), file, source_paths(),
                                  sets, toy_shape(), toy_families());
}

inline Lines mistakes(const std::string& text, const Lines& sets = {}) {
    return mistakes_of([&] { static_cast<void>(load_text(text, sets)); });
}

inline const char* const kHead = R"({"schema_version": 1, "kind": "pipeline",)"
                                 "\n";

/// A pipeline of x, w and b: the tensors stand on line 2, the steps from line 3 on.
inline std::string with_steps(const std::string& steps) {
    return kHead +
           std::string(R"("tensors": {"x": {"shape": [4, 8]}, "w": {"shape": [8, 6]}},)"
                       "\n\"steps\": [") +
           steps + "]}";
}

inline workload::PipelineWorkload pipeline_of(const std::string& text, const Lines& sets = {}) {
    return std::get<workload::PipelineWorkload>(load_text(text, sets).workload.kind);
}

} // namespace tessera::test

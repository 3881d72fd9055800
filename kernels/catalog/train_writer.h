// SPDX-License-Identifier: MIT
// A pipeline that grows by backward steps and updates: who adds to it tells mistakes, names what it makes
// and gives tensors by a TrainWriter.
#pragma once

#include "kernels/catalog/catalog.h"
#include "kernels/catalog/train.h"
#include "kernels/family/family.h"
#include "kernels/workload/pipeline_workload.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera::catalog {

inline constexpr const char* kTrain = "/train"; ///< JSON pointer of what training asks for

/// Holds what a step reads and writes, with all that is inside it.
struct Touched {
    std::set<std::string> read;
    std::set<std::string> written;
};

void add_touched(const workload::PipelineStep& step, Touched& touched);

/// Holds what is known of all steps of a file.
struct KnownNames {
    std::map<std::string, family::TensorType> types; ///< of tensors
    std::set<std::string> names;                     ///< of tensors and steps, the made ones too
    Families families;
};

/// A tensor whose gradient is wanted.
struct WantedGradient {
    std::string tensor;
    std::string at; ///< JSON pointer of where the file says so
};

class TrainWriter {
public:
    TrainWriter(Trained& out, KnownNames& known) : out_(out), known_(known) {}

    void fail(std::string pointer, std::string message, std::string hint = {});

    /// Whether a name may be made, which then is. Otherwise the file has it, which is told.
    [[nodiscard]] bool may_name(const std::string& name, const std::string& pointer);

    /// Gives a tensor whose elements are `constant`.
    workload::PipelineTensor& give(const std::string& name, const family::TensorType& type,
                                   double constant);

    /// Adds a step that the file does not have. `inside`: of a repeat.
    void add(workload::PipelineStep step, const std::string& origin,
             std::vector<Origin> inside = {});

    [[nodiscard]] const family::TensorType& type_of(const std::string& tensor) const {
        return known_.types.at(tensor);
    }
    [[nodiscard]] Trained& out() { return out_; }
    [[nodiscard]] const Families& families() const { return known_.families; }

private:
    Trained& out_;
    KnownNames& known_;
};

} // namespace tessera::catalog

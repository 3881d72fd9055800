// SPDX-License-Identifier: MIT
#include "kernels/catalog/train_writer.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::catalog {

using workload::PipelineStep;
using workload::PipelineTensor;

void add_touched(const PipelineStep& step, Touched& touched) {
    if (step.is_leaf()) {
        touched.read.insert(step.inputs.begin(), step.inputs.end());
        touched.written.insert(step.outputs.begin(), step.outputs.end());
        touched.written.erase("");
    }
    if (step.decides()) {
        touched.read.insert(step.word);
    }
    visit_lists(step, [&](const char*, const std::vector<PipelineStep>& inside) {
        for (const PipelineStep& child : inside) {
            add_touched(child, touched);
        }
    });
}

void TrainWriter::fail(std::string pointer, std::string message, std::string hint) {
    out_.mistakes.push_back({"", 0, 0, std::move(pointer), std::move(message), std::move(hint)});
}

bool TrainWriter::may_name(const std::string& name, const std::string& pointer) {
    if (known_.names.insert(name).second) {
        return true;
    }
    fail(pointer, fmt::format("got a tensor or step '{}', expected another name: one that the "
                              "gradients make is called so",
                              name));
    return false;
}

PipelineTensor& TrainWriter::give(const std::string& name, const family::TensorType& type,
                                  double constant) {
    PipelineTensor& tensor = out_.workload.tensors.emplace_back();
    tensor.name = name;
    tensor.shape = type.shape;
    tensor.type = type.type;
    tensor.values.kind = workload::ValuesSpec::Kind::Constant;
    tensor.values.constant = constant;
    tensor.values.key = "/tensors/" + name + "/values";
    return tensor;
}

void TrainWriter::add(PipelineStep step, const std::string& origin, std::vector<Origin> inside) {
    out_.workload.steps.push_back(std::move(step));
    out_.origins.push_back({origin, true, std::move(inside)});
}

} // namespace tessera::catalog

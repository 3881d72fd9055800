// SPDX-License-Identifier: MIT
#include "kernels/own_codelet/own_codelet.h"

#include "base/config/document.h"
#include "kernels/own_codelet/definition.h"
#include "kernels/own_codelet/step.h"

namespace tessera::own_codelet {

const family::Family& family() {
    static const family::Family family{
        .name = "codelet", .says = "a codelet of the user's own", .inputs = {}, .options = {}};
    return family;
}

std::string input_pointer(const workload::OwnCodelet& told, const std::string& pointer,
                          std::size_t input) {
    std::string found = pointer + "/inputs";
    std::size_t number = 0;
    told.visit_inputs([&](const std::string& key, const std::string&) {
        if (number++ == input) {
            found = config::child_pointer(pointer + "/inputs", key);
        }
    });
    return found;
}

std::unique_ptr<family::Step> make(const workload::OwnCodelet& told, const std::string& pointer,
                                   const std::vector<family::TensorType>& inputs) {
    return step_of(define(told, pointer, inputs));
}

} // namespace tessera::own_codelet

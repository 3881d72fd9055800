// SPDX-License-Identifier: MIT
// The expressions of a vertex file at one point, with mistakes collected at their places.
#pragma once

#include "base/expression/expression.h"
#include "kernels/vertex/spec.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::vertex {

/// One run's values of the parameters.
struct Point {
    expression::Scope scope;                           ///< the parameters, and what is added later
    std::vector<std::pair<std::string, double>> shown; ///< in the order of the file
};

/// All points of a file, each different one once; expressions may name `tile.workers` of the
/// machine. @throws ConfigError
[[nodiscard]] std::vector<Point> points_of(const LoadedVertex& loaded,
                                           const spec::MachineSpec& machine = {});

/// Evaluates what stands in the file and notes mistakes.
class Evaluation {
public:
    Evaluation(const LoadedVertex& loaded, expression::Scope scope)
        : document_(&loaded.document), scope_(std::move(scope)) {}

    /// A number or an expression. After a mistake `otherwise`.
    double number(const std::string& pointer, const Json& given, double otherwise = 0);
    /// The same, a whole number of low..high.
    std::int64_t whole(const std::string& pointer, const Json& given, std::int64_t low,
                       std::int64_t high, const std::string& unit = {});

    void fail(const std::string& pointer, std::string message, std::string hint = {});
    [[nodiscard]] expression::Scope& scope() { return scope_; }
    [[nodiscard]] const Json* find(const std::string& pointer) const;
    [[nodiscard]] bool failed() const { return !mistakes_.empty(); }
    /// Throws ConfigError if there were mistakes.
    void throw_if_failed();

private:
    const config::Document* document_;
    expression::Scope scope_;
    std::vector<Diagnostic> mistakes_;
};

/// The preprocessor macros of the sources: name and text. Mistakes are noted in `evaluation`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
defines_of(Evaluation& evaluation, const LoadedVertex& loaded);

} // namespace tessera::vertex

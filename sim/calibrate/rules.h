// SPDX-License-Identifier: MIT
// Which micro-workload stands for which kind of reference row: one list a subject, looked through
// in order, first match wins.
#pragma once

#include "models/spec/machine_spec.h"
#include "sim/calibrate/measurement.h"
#include "sim/calibrate/reading.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::calibrate {

/// A row's machine as a run takes it, and as mappings look at it.
struct RowMachine {
    std::string name;
    std::vector<std::string> sets;
    spec::MachineSpec spec;
};

/// Words that a column must hold, capitals apart.
struct Says {
    const char* column;
    std::vector<std::string> words;
};

struct Rule {
    const char* group;     ///< of measurements that name none themselves
    std::vector<Says> row; ///< all must hold
    std::function<Mapped(const ReferenceRow&, const RowMachine&)> measure;
    bool of_several_chips = false; ///< rows of several chips are covered by such rules alone
};

[[nodiscard]] const std::vector<Rule>& attention_rules();
[[nodiscard]] const std::vector<Rule>& convolution_rules();
[[nodiscard]] const std::vector<Rule>& exchange_rules();
[[nodiscard]] const std::vector<Rule>& link_rules();
[[nodiscard]] const std::vector<Rule>& memory_rules();
[[nodiscard]] const std::vector<Rule>& product_rules();
[[nodiscard]] const std::vector<Rule>& recall_rules();
[[nodiscard]] const std::vector<Rule>& reduction_rules();
[[nodiscard]] const std::vector<Rule>& stencil_rules();
[[nodiscard]] const std::vector<Rule>& streaming_rules();

/// A workload file of a kind with the given keys.
[[nodiscard]] nlohmann::json workload_of(const char* kind, nlohmann::json keys);

/// A time: cycles of one run, over `repetitions`.
[[nodiscard]] Measurement measure_time(const ReferenceRow& row, const RowMachine& machine,
                                       nlohmann::json workload, Timed timed,
                                       double repetitions = 1);

/// True for a figure that is a time by its column `metric`.
[[nodiscard]] bool is_time(const ReferenceRow& row);

/// A rate: `amount` (bytes or flops, of all repetitions) over the time of one run.
[[nodiscard]] Measurement measure_rate(const ReferenceRow& row, const RowMachine& machine,
                                       nlohmann::json workload, Timed timed, double amount);

/// The count in a column. @throws ConfigError where the cell is empty
[[nodiscard]] std::int64_t needed(const ReferenceRow& row, const std::string& column);

/// The product of such counts. @throws ConfigError also where it is beyond all memories
[[nodiscard]] std::int64_t needed_product(const ReferenceRow& row,
                                          const std::vector<std::string>& columns);

/// Column `tiles`. @throws ConfigError where it is empty or has more than the machine
[[nodiscard]] std::int64_t needed_tiles(const ReferenceRow& row, const RowMachine& machine);

/// The size of a product of a (sparse or dense) m x k matrix and a dense k x n one.
struct ProductSize {
    std::int64_t m = 0;
    std::int64_t k = 0;
    std::int64_t n = 0;
    double density = 1; ///< of the m x k matrix; flops are counted of its non-zeros alone

    [[nodiscard]] double flops() const;
};

/// Elements and partial results, as workloads name them.
struct ProductTypes {
    std::string dtype;
    std::string partials;
};

/// Column `dtype`: FP16 with partials of its own, FP32, or FP16.32, whose partials are FP32.
/// @throws ConfigError for anything else
[[nodiscard]] ProductTypes product_types(const ReferenceRow& row);

/// A dense product in timing mode by this plan ("published" or "fastest").
[[nodiscard]] Run dense_run(const RowMachine& machine, const ProductSize& size,
                            const ProductTypes& types, const char* plan);

/// A rate (or time) of one product: `run` makes its run by a plan; judged is the published one.
[[nodiscard]] Measurement measure_product(const ReferenceRow& row, const ProductSize& size,
                                          const std::function<Run(const char* plan)>& run);

/// Bytes that move as words of 4 bytes: the next multiple.
[[nodiscard]] std::int64_t whole_words(std::int64_t bytes);

/// One more thing that the row does not say.
void assume(Measurement& measurement, const std::string& what);
/// The same of messages of `bytes`, where these are no whole words.
void assume_words(Measurement& measurement, std::int64_t bytes);

} // namespace tessera::calibrate

// SPDX-License-Identifier: MIT
// What the tables of commands are written with: options of each kind, those that several commands
// have, and checks of their values.
#pragma once

#include "sim/cli/table.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::cli {

[[nodiscard]] OptionSpec flag(std::string name, std::string sentence);
[[nodiscard]] OptionSpec text(std::string name, std::string value, std::string sentence,
                              Completes completes = Completes::File);
[[nodiscard]] OptionSpec texts(std::string name, std::string value, std::string sentence,
                               Completes completes = Completes::Nothing);
[[nodiscard]] OptionSpec word(std::string name, std::string value, std::string sentence,
                              std::vector<std::string> words, std::string otherwise);
[[nodiscard]] OptionSpec number(std::string name, std::string value, std::string sentence);
[[nodiscard]] OptionSpec shortened(char letter, OptionSpec option);
[[nodiscard]] OptionSpec otherwise(std::string value, OptionSpec option, std::string shown = {});

/// The host's cores.
[[nodiscard]] std::string default_threads();
[[nodiscard]] OptionSpec threads(std::string sentence);
[[nodiscard]] OptionSpec machine(std::string sentence);
[[nodiscard]] OptionSpec quiet();
[[nodiscard]] OptionSpec include();
[[nodiscard]] OptionSpec define();

/// @throws UsageError where one of the options is given without a text
void refuse_empty(const std::string& command, const std::string& option, const std::string& text);
void refuse_empty(const std::string& command, const Given& given,
                  const std::vector<std::string>& names);
/// @throws UsageError
void refuse_dash_folder(const std::string& command, const std::string& folder,
                        const std::string& option);
/// A number of threads or processes. @throws UsageError
[[nodiscard]] int threads_of(const std::string& command, const Given& given,
                             const std::string& option = "threads");
[[nodiscard]] std::string operand_or_nothing(const Given& given, std::size_t number);

} // namespace tessera::cli

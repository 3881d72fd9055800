// SPDX-License-Identifier: MIT
#include "models/tile/core/supervisor_registers.h"

#include "models/isa/csr_numbers.h"

namespace tessera::tile {

std::int32_t SupervisorRegisters::worker_of(std::int32_t number) const {
    const std::int32_t worker = number - isa::kCsrWorker0Base;
    return worker >= 0 && worker < static_cast<std::int32_t>(worker_base.size()) ? worker : -1;
}

std::uint32_t SupervisorRegisters::read(std::int32_t number) const {
    if (const std::int32_t worker = worker_of(number); worker >= 0) {
        return worker_base[static_cast<std::size_t>(worker)];
    }
    if (number >= isa::kCsrExchangeFirst && number <= isa::kCsrExchangeLast) {
        return exchange_[static_cast<std::size_t>(number - isa::kCsrExchangeFirst)];
    }
    switch (number) {
    case isa::kCsrFpInitial:
        return fp_initial;
    case isa::kCsrFpInitialFormat:
        return fp_initial_format;
    case isa::kCsrFpInitialScale:
        return fp_initial_scale;
    case isa::kCsrWeightAddress:
        return weight_address;
    case isa::kCsrDebugData:
    case isa::kCsrDebugBreak:
        return debug_[static_cast<std::size_t>(number - isa::kCsrDebugData)];
    default:
        return 0;
    }
}

void SupervisorRegisters::write(std::int32_t number, std::uint32_t value) {
    if (const std::int32_t worker = worker_of(number); worker >= 0) {
        worker_base[static_cast<std::size_t>(worker)] = value;
        return;
    }
    if (number >= isa::kCsrExchangeFirst && number <= isa::kCsrExchangeLast) {
        exchange_[static_cast<std::size_t>(number - isa::kCsrExchangeFirst)] = value;
        return;
    }
    switch (number) {
    case isa::kCsrFpInitial:
        fp_initial = value & isa::kFpControlBits;
        break;
    case isa::kCsrFpInitialFormat:
        fp_initial_format = has_fp8_ ? value : 0;
        break;
    case isa::kCsrFpInitialScale:
        fp_initial_scale = has_fp8_ ? value : 0;
        break;
    case isa::kCsrWeightAddress:
        weight_address = value;
        break;
    case isa::kCsrDebugData:
    case isa::kCsrDebugBreak:
        debug_[static_cast<std::size_t>(number - isa::kCsrDebugData)] = value;
        break;
    default:
        break;
    }
}

} // namespace tessera::tile

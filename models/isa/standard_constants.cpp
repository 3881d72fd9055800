// SPDX-License-Identifier: MIT
// The constants of the machine's standard headers that kernels name. Flags of the matrix unit are
// free: assembler and interpreter agree on (engines - 1) * 16 + phase. The rest:
// docs/evidence.md#instruction-set (tile constants).
#include "models/isa/assembler.h"

#include <string>

namespace tessera::isa {
namespace {

void add_matrix_flags(Constants& constants) {
    for (int engines = 1; engines <= 4; ++engines) {
        for (int phase = 0; phase < 8; ++phase) {
            const std::string tail = "_E" + std::to_string(engines) + "_P" + std::to_string(phase);
            const int flag = (engines - 1) * 16 + phase;
            constants["TAMP_F32" + tail] = flag;
            if (phase < 4) {
                constants["TAMP_F16V4" + tail] = flag;
            }
        }
    }
    for (int weight = 0; weight < 4; ++weight) {
        const std::string tail = "_W" + std::to_string(weight);
        constants["TSLIC_F16V4_1x4" + tail] = 0x30 + weight;
        constants["TSLIC_F16V4_1x3" + tail] = 0x20 + weight;
    }
}

} // namespace

Constants standard_constants(const Target& target) {
    Constants constants = {
        {"CTXT_WORKERS", target.workers},
        {"CSR_W_WSR__CTXTID_M1__MASK", 7},
        {"CSR_W_WSR__CTXTID_M1__SHIFT", 0},
        {"CSR_W_FP_CLR__ZAACC__MASK", 1},
        {"CSR_W_FP_CLR__ZAACC__SHIFT", 3},
        {"CSR_W_REPEAT_COUNT__VALUE__MASK", target.repeat_count_mask()},
        {"CSR_W_FP_CTL__INDEX", 0x102},
        {"CSR_S_FP_ICTL__INDEX", 0x20},
        {"CSR_S_FP_ICTL__ESR__MASK", 1},
        {"CSR_S_FP_ICTL__ESR__SHIFT", 19},
        {"CSR_S_FP_ICTL__NANOO__MASK", 1},
        {"CSR_S_FP_ICTL__NANOO__SHIFT", 20},
        {"CSR_S_FP_ICTL__OFLO__MASK", 1},
        {"CSR_S_FP_ICTL__OFLO__SHIFT", 2},
        {"CSR_S_FP_INFMT__INDEX", 0x31},
        {"TMEM_REGION0_BASE_ADDR", target.memory_base},
        {"TMEM_ELEMSIZE", target.element_bytes},
        {"TMEM_BYTE_MAX_ADDRESS_WIDTH", 21},
        {"TMEM_FULL_ADDRESS_MASK", 0x1fffff},
        {"TEXCH_SYNCZONE_LOCAL", 2},
        {"TFPU_FP32_TRUE", 0xffffffff},
        {"TFPU_FP32_FALSE", 0},
        {"TFPU_FP16_TRUE", 0xffff},
        {"TFPU_FP16_FALSE", 0},
        {"TISTACC_P0", 0},
        {"TISTACC_P1", 1},
        {"TSTACC_P0", 0},
        {"TSTACC_P1", 1},
    };
    add_matrix_flags(constants);
    return constants;
}

AssemblyOptions options_for(const Target& target) {
    AssemblyOptions options;
    options.target = target;
    options.constants = standard_constants(target);
    return options;
}

} // namespace tessera::isa

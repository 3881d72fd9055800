// SPDX-License-Identifier: MIT
// Constants of the machine for assembly sources; numbers: docs/evidence.md#instruction-set and
// #memory-map of the simulator. Those of the matrix flags are free: assembler and interpreter
// agree on (engines - 1) * 16 + phase.
#ifndef POPLAR_TILE_CONSTANTS_HPP
#define POPLAR_TILE_CONSTANTS_HPP

#define CTXT_WORKERS __TESSERA_WORKERS__

// Tile memory. The first generation's header gives the size of an element in KiB.
#define TMEM_BYTE_MAX_ADDRESS_WIDTH 21
#define TMEM_FULL_ADDRESS_MASK 0x1fffff
#define TMEM_REGION0_BASE_ADDR __TESSERA_MEMORY_BASE__
#define TMEM_REGION0_SIZE __TESSERA_REGION0_BYTES__
#define TMEM_REGION1_BASE_ADDR __TESSERA_REGION1_BASE__
#define TMEM_REGION1_SIZE __TESSERA_REGION1_BYTES__
#if __IPU_ARCH_VERSION__ == 1
#define TMEM_ELEMSIZE 16
#else
#define TMEM_ELEMSIZE 0x4000
#endif

// Control and status registers of a worker; 0x100 and up are the aux group.
#define CSR_W_PC__INDEX 0x0
#define CSR_W_WSR__INDEX 0x1
#define CSR_W_VERTEX_BASE__INDEX 0x2
#define CSR_W_WORKER_BASE__INDEX 0x3
#define CSR_W_REPEAT_COUNT__INDEX 0x4
#define CSR_W_REPEAT_FIRST__INDEX 0x5
#define CSR_W_REPEAT_END__INDEX 0x6
#define CSR_W_COUNT_L__INDEX 0x60
#define CSR_W_COUNT_U__INDEX 0x61
#define CSR_W_FP_STS__INDEX 0x100
#define CSR_W_FP_CLR__INDEX 0x101
#define CSR_W_FP_CTL__INDEX 0x102
#define CSR_W_PRNG_0_0__INDEX 0x103
#define CSR_W_PRNG_0_1__INDEX 0x104
#define CSR_W_PRNG_1_0__INDEX 0x105
#define CSR_W_PRNG_1_1__INDEX 0x106
#define CSR_W_PRNG_SEED__INDEX 0x107
#define CSR_W_TAS__INDEX 0x108
#if __IPU_ARCH_VERSION__ == 21
#define CSR_W_FP_NFMT__INDEX 0x109
#define CSR_W_FP_SCL__INDEX 0x10a
#endif
#define CSR_W_WSR__CTXTID_M1__MASK 0x7
#define CSR_W_WSR__CTXTID_M1__SHIFT 0
#define CSR_W_WSR__ETYPE__MASK 0xf
#define CSR_W_WSR__ETYPE__SHIFT 4
#define CSR_W_WSR__ERPT__MASK 0x1
#define CSR_W_WSR__ERPT__SHIFT 9
#if __IPU_ARCH_VERSION__ == 1
#define CSR_W_REPEAT_COUNT__VALUE__MASK 0xfff
#else
#define CSR_W_REPEAT_COUNT__VALUE__MASK 0xffff
#endif
#define CSR_W_REPEAT_COUNT__VALUE__SHIFT 0
#define CSR_W_FP_CLR__INV__MASK 0x1
#define CSR_W_FP_CLR__INV__SHIFT 0
#define CSR_W_FP_CLR__DIV0__MASK 0x1
#define CSR_W_FP_CLR__DIV0__SHIFT 1
#define CSR_W_FP_CLR__OFLO__MASK 0x1
#define CSR_W_FP_CLR__OFLO__SHIFT 2
#define CSR_W_FP_CLR__ZAACC__MASK 0x1
#define CSR_W_FP_CLR__ZAACC__SHIFT 3
#define CSR_W_FP_CTL__INV__MASK 0x1
#define CSR_W_FP_CTL__INV__SHIFT 0
#define CSR_W_FP_CTL__DIV0__MASK 0x1
#define CSR_W_FP_CTL__DIV0__SHIFT 1
#define CSR_W_FP_CTL__OFLO__MASK 0x1
#define CSR_W_FP_CTL__OFLO__SHIFT 2
#define CSR_W_FP_CTL__RND__MASK 0x7
#define CSR_W_FP_CTL__RND__SHIFT 16
#define CSR_W_FP_CTL__ESR__MASK 0x1
#define CSR_W_FP_CTL__ESR__SHIFT 19
#define CSR_W_FP_CTL__NANOO__MASK 0x1
#define CSR_W_FP_CTL__NANOO__SHIFT 20

// Of the supervisor.
#define CSR_S_PC__INDEX 0x0
#define CSR_S_SSR__INDEX 0x1
#define CSR_S_CR__INDEX 0x2
#define CSR_S_TILE_ID__INDEX 0x3
#define CSR_S_FP_ICTL__INDEX 0x20
#define CSR_S_WORKER0_BASE__INDEX 0x21
#define CSR_S_WORKER1_BASE__INDEX 0x22
#define CSR_S_WORKER2_BASE__INDEX 0x23
#define CSR_S_WORKER3_BASE__INDEX 0x24
#define CSR_S_WORKER4_BASE__INDEX 0x25
#define CSR_S_WORKER5_BASE__INDEX 0x26
#define CSR_S_FP_INFMT__INDEX 0x31
#define CSR_S_FP_ISCL__INDEX 0x33
#define CSR_S_CCCSLOAD__INDEX 0x50
#define CSR_S_COUNT_L__INDEX 0x60
#define CSR_S_COUNT_U__INDEX 0x61
#define CSR_S_CTXT_STS__INDEX 0x72
#define CSR_S_CR__LC_CLR__MASK 0x1
#define CSR_S_CR__LC_CLR__SHIFT 0
#define CSR_S_CR__LC_SET__MASK 0x1
#define CSR_S_CR__LC_SET__SHIFT 1
#define CSR_S_CR__ZCWEI__MASK 0x1
#define CSR_S_CR__ZCWEI__SHIFT 2
#define CSR_S_FP_ICTL__INV__MASK 0x1
#define CSR_S_FP_ICTL__INV__SHIFT 0
#define CSR_S_FP_ICTL__DIV0__MASK 0x1
#define CSR_S_FP_ICTL__DIV0__SHIFT 1
#define CSR_S_FP_ICTL__OFLO__MASK 0x1
#define CSR_S_FP_ICTL__OFLO__SHIFT 2
#define CSR_S_FP_ICTL__RND__MASK 0x7
#define CSR_S_FP_ICTL__RND__SHIFT 16
#define CSR_S_FP_ICTL__ESR__MASK 0x1
#define CSR_S_FP_ICTL__ESR__SHIFT 19
#define CSR_S_FP_ICTL__NANOO__MASK 0x1
#define CSR_S_FP_ICTL__NANOO__SHIFT 20

#define TEXCH_SYNCZONE_LOCAL 2

// Results of comparisons in the aux lane.
#define TFPU_FP32_TRUE 0xffffffff
#define TFPU_FP32_FALSE 0
#define TFPU_FP16_TRUE 0xffff
#define TFPU_FP16_FALSE 0

// Flags of the matrix unit: engines used, phase.
#define TAMP_F16V4_E1_P0 0x00
#define TAMP_F16V4_E1_P1 0x01
#define TAMP_F16V4_E1_P2 0x02
#define TAMP_F16V4_E1_P3 0x03
#define TAMP_F16V4_E2_P0 0x10
#define TAMP_F16V4_E2_P1 0x11
#define TAMP_F16V4_E2_P2 0x12
#define TAMP_F16V4_E2_P3 0x13
#define TAMP_F16V4_E3_P0 0x20
#define TAMP_F16V4_E3_P1 0x21
#define TAMP_F16V4_E3_P2 0x22
#define TAMP_F16V4_E3_P3 0x23
#define TAMP_F16V4_E4_P0 0x30
#define TAMP_F16V4_E4_P1 0x31
#define TAMP_F16V4_E4_P2 0x32
#define TAMP_F16V4_E4_P3 0x33
#define TAMP_F32_E1_P0 0x00
#define TAMP_F32_E1_P1 0x01
#define TAMP_F32_E1_P2 0x02
#define TAMP_F32_E1_P3 0x03
#define TAMP_F32_E1_P4 0x04
#define TAMP_F32_E1_P5 0x05
#define TAMP_F32_E1_P6 0x06
#define TAMP_F32_E1_P7 0x07
#define TAMP_F32_E2_P0 0x10
#define TAMP_F32_E2_P1 0x11
#define TAMP_F32_E2_P2 0x12
#define TAMP_F32_E2_P3 0x13
#define TAMP_F32_E2_P4 0x14
#define TAMP_F32_E2_P5 0x15
#define TAMP_F32_E2_P6 0x16
#define TAMP_F32_E2_P7 0x17
#define TAMP_F32_E3_P0 0x20
#define TAMP_F32_E3_P1 0x21
#define TAMP_F32_E3_P2 0x22
#define TAMP_F32_E3_P3 0x23
#define TAMP_F32_E3_P4 0x24
#define TAMP_F32_E3_P5 0x25
#define TAMP_F32_E3_P6 0x26
#define TAMP_F32_E3_P7 0x27
#define TAMP_F32_E4_P0 0x30
#define TAMP_F32_E4_P1 0x31
#define TAMP_F32_E4_P2 0x32
#define TAMP_F32_E4_P3 0x33
#define TAMP_F32_E4_P4 0x34
#define TAMP_F32_E4_P5 0x35
#define TAMP_F32_E4_P6 0x36
#define TAMP_F32_E4_P7 0x37
#if __IPU_ARCH_VERSION__ == 21
#define TAMP_F8V8_E1_P0 0x00
#define TAMP_F8V8_E1_P1 0x01
#define TAMP_F8V8_E1_P2 0x02
#define TAMP_F8V8_E1_P3 0x03
#define TAMP_F8V8_E2_P0 0x10
#define TAMP_F8V8_E2_P1 0x11
#define TAMP_F8V8_E2_P2 0x12
#define TAMP_F8V8_E2_P3 0x13
#define TAMP_F8V8_E3_P0 0x20
#define TAMP_F8V8_E3_P1 0x21
#define TAMP_F8V8_E3_P2 0x22
#define TAMP_F8V8_E3_P3 0x23
#define TAMP_F8V8_E4_P0 0x30
#define TAMP_F8V8_E4_P1 0x31
#define TAMP_F8V8_E4_P2 0x32
#define TAMP_F8V8_E4_P3 0x33
#endif

// Of the sliding convolution: taps, weight.
#define TSLIC_F16V4_1x4_W0 0x30
#define TSLIC_F16V4_1x4_W1 0x31
#define TSLIC_F16V4_1x4_W2 0x32
#define TSLIC_F16V4_1x4_W3 0x33
#define TSLIC_F16V4_1x3_W0 0x20
#define TSLIC_F16V4_1x3_W1 0x21
#define TSLIC_F16V4_1x3_W2 0x22
#define TSLIC_F16V4_1x3_W3 0x23

// Of the transposing accumulators.
#define TISTACC_P0 0
#define TISTACC_P1 1
#define TSTACC_P0 0
#define TSTACC_P1 1

#endif

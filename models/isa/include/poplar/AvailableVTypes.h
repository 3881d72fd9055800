// SPDX-License-Identifier: MIT
// Says which compact pointer types vertex fields use. There are none: no VECTOR_AVAIL_ macro is
// defined and every pointer is a word of 32 bits.

// SPDX-License-Identifier: MIT
// Section flags of worker code, and the declarations of stack use, which nothing reads here.
#ifndef POPLAR_STACK_SIZE_DEFS_HPP
#define POPLAR_STACK_SIZE_DEFS_HPP

#define FUNCTION_IS_WORKER "ax"

.macro DEF_STACK_USAGE args:vararg
.endm
.macro DEF_STACK_SIZE_OWN args:vararg
.endm

#endif

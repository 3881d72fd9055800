# SPDX-License-Identifier: MIT
# One case of tools/check_trace.py: writes SCENE with WRITER to TRACE, runs CHECKER on it and
# compares the exit code with EXPECT_EXIT; EXPECT_TEXT must be in what it prints.
# With RESULT the check is against that file, in which the text FROM (if given) is replaced by TO.
file(REMOVE "${TRACE}")
execute_process(COMMAND "${WRITER}" "${SCENE}" "${TRACE}" COMMAND_ERROR_IS_FATAL ANY)

set(result_arguments "")
if(RESULT)
  file(READ "${RESULT}" result_text)
  if(FROM)
    string(FIND "${result_text}" "${FROM}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "'${FROM}' is not in ${RESULT}")
    endif()
    string(REPLACE "${FROM}" "${TO}" result_text "${result_text}")
  endif()
  file(WRITE "${TRACE}.result.json" "${result_text}")
  set(result_arguments --result "${TRACE}.result.json")
endif()

execute_process(COMMAND "${PYTHON}" "${CHECKER}" "${TRACE}" ${result_arguments}
                OUTPUT_VARIABLE summary ERROR_VARIABLE reasons RESULT_VARIABLE exit_code)
if(NOT exit_code STREQUAL EXPECT_EXIT)
  message(FATAL_ERROR "exit code ${exit_code}, expected ${EXPECT_EXIT}\n${summary}${reasons}")
endif()
string(FIND "${summary}${reasons}" "${EXPECT_TEXT}" place)
if(place EQUAL -1)
  message(FATAL_ERROR "'${EXPECT_TEXT}' is not in:\n${summary}${reasons}")
endif()

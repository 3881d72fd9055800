# SPDX-License-Identifier: MIT
# Writes SCENE with WRITER to TRACE, decodes it with PROTOC against SCHEMA (a trace that is text needs
# none) and compares the text with GOLDEN. With TESSERA_UPDATE_GOLDEN in the environment the golden file is written instead, and
# the test fails once.
execute_process(COMMAND "${WRITER}" "${SCENE}" "${TRACE}" COMMAND_ERROR_IS_FATAL ANY)
if(PROTOC)
  get_filename_component(schema_dir "${SCHEMA}" DIRECTORY)
  execute_process(COMMAND "${PROTOC}" "--proto_path=${schema_dir}" --decode=perfetto.protos.Trace
    "${SCHEMA}"
                  INPUT_FILE "${TRACE}" OUTPUT_FILE "${TRACE}.txt" COMMAND_ERROR_IS_FATAL ANY)
else()
  configure_file("${TRACE}" "${TRACE}.txt" COPYONLY)
endif()
if(DEFINED ENV{TESSERA_UPDATE_GOLDEN})
  configure_file("${TRACE}.txt" "${GOLDEN}" COPYONLY)
  message(FATAL_ERROR
    "${GOLDEN} is written; read its diff, then run again without TESSERA_UPDATE_GOLDEN")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${TRACE}.txt" "${GOLDEN}"
                RESULT_VARIABLE differs)
if(differs)
  execute_process(COMMAND diff -u "${GOLDEN}" "${TRACE}.txt" OUTPUT_VARIABLE difference)
  message(FATAL_ERROR "the decoded trace is not ${GOLDEN}:\n${difference}")
endif()

# Writes a header with the commit of the sources to OUT, if the commit has changed.
find_program(git git)
set(commit "unknown")
if(git)
  execute_process(COMMAND ${git} -C "${SOURCE}" describe --always --abbrev=12 --dirty --match= OUTPUT_VARIABLE text
    RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    set(commit "${text}")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUT}" CONTENT "#define STOPE_COMMIT \"${commit}\"\n")

# Runs the program to print its man pages and completions into OUT. The pages are OUT/man/man1/stope.1, stope-knn.1, ...
# and OUT/man/man7/stope-measures.7.
cmake_minimum_required(VERSION 3.25) # CMP0053: "@X@" in a quoted string is text

function(output_of variable)
  execute_process(COMMAND "${PROGRAM}" ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN} failed: ${status}")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

foreach(pair "stope.bash bash" "_stope zsh" "stope.fish fish")
  separate_arguments(words UNIX_COMMAND "${pair}")
  list(GET words 0 file)
  list(GET words 1 shell)
  output_of(script completion ${shell})
  file(WRITE "${OUT}/${file}" "${script}")
endforeach()

file(REMOVE_RECURSE "${OUT}/man")
output_of(names help --man)
string(STRIP "${names}" names)
string(REPLACE "\n" ";" names "${names}")
foreach(name IN LISTS names)
  output_of(page help --man ${name})
  if(name STREQUAL "stope.1")
    file(READ "${MAN_TEMPLATE}" template)
    string(REPLACE "@VERSION@" "${VERSION}" template "${template}")
    string(REPLACE "@COMMANDS@" "${page}" page "${template}")
  endif()
  string(REGEX REPLACE ".*\\." "" section "${name}")
  file(WRITE "${OUT}/man/man${section}/${name}" "${page}")
endforeach()

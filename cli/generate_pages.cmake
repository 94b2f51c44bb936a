# Runs the program to print its man page and completions into OUT.
cmake_minimum_required(VERSION 3.25) # CMP0053: "@X@" in a quoted string is text

function(print_to file)
  execute_process(COMMAND "${PROGRAM}" ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN} failed: ${status}")
  endif()
  file(WRITE "${OUT}/${file}" "${text}")
endfunction()

print_to(stope.bash completion bash)
print_to(_stope completion zsh)
print_to(stope.fish completion fish)
print_to(commands.roff help --man)

file(READ "${MAN_TEMPLATE}" page)
file(READ "${OUT}/commands.roff" commands)
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
string(REPLACE "@COMMANDS@" "${commands}" page "${page}")
file(WRITE "${OUT}/stope.1" "${page}")

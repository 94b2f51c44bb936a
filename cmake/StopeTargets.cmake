# Compiler flags and the functions that declare modules and tests.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# A build folder is searched for it only once: a launcher that appears later would have everything compiled again.
if(NOT DEFINED STOPE_CCACHE)
  find_program(STOPE_CCACHE ccache)
endif()
if(STOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache need not know more about precompiled headers than their content.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${STOPE_CCACHE})
endif()

# pip builds with whatever compiler there is, which may know warnings that those of this project do not: it says OFF.
option(STOPE_WERROR "Take warnings as errors" ON)
set(_werror "")
if(STOPE_WERROR)
  set(_werror -Werror)
endif()

add_library(stope_flags INTERFACE)
target_compile_options(stope_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wold-style-cast -Wcast-align -Wnon-virtual-dtor -Woverloaded-virtual
  -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough ${_werror}
  # A fused multiply-add rounds once where the reference formulas round twice: promise 1 forbids it, but where the source
  # calls one.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees overlapping copies inside std::string concatenation that cannot happen (GCC bug 105651).
  # gcc 13 takes every temporary argument for what a returned reference refers to (GCC bug 107532).
  target_compile_options(stope_flags INTERFACE -Wno-restrict -Wno-dangling-reference)
else()
  # clang reports a deprecated function inside std::stable_sort of libstdc++ 12. gcc still checks our own code.
  target_compile_options(stope_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(STOPE_SANITIZE)
  # The check of object sizes takes a twelfth of the compiler's time, and the address sanitizer finds what it finds.
  target_compile_options(stope_flags INTERFACE -fsanitize=${STOPE_SANITIZE} -fno-sanitize=object-size
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${STOPE_SANITIZE})
  # GNU's linker takes several times as long for so much code and so many tables.
  find_program(STOPE_LLD ld.lld-19)
  if(STOPE_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_link_options(--ld-path=${STOPE_LLD})
  endif()
endif()

# The sources that get coverage counters for the fuzz targets: those that turn bytes into tables and models,
# apply models, and choose what a filter drops (not its inner loops). Elsewhere, threads that share counters would only slow the tests down. The address sanitizer brings the counters' run-time
# library, so that tests link the same libraries.
set(STOPE_FUZZED_SOURCES "/src/(io|table|model|jobs|capi|predict)/|/src/knn/(filter|lists|search)/[a-z_]+.cpp|/src/gram/model_table.cpp|/src/tree/tables.cpp")

# clang spends half of the time of a source on headers that most sources name. gcc would gain nothing, and without
# precompiled headers it proves that every source names the headers that it uses.
option(STOPE_PRECOMPILE "Parse the headers that most sources name once a build (clang)" OFF)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(STOPE_PRECOMPILE OFF)
endif()
set(STOPE_STANDARD_HEADERS <algorithm> <array> <atomic> <bit> <cmath> <cstdint> <cstdlib> <cstring> <functional> <limits>
  <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <thread> <unordered_map> <utility> <vector>)

# stope_link(FILE LINK): makes a symbolic link where there is not the same already: programs that run meanwhile read it.
function(stope_link FILE LINK)
  if(IS_SYMLINK ${LINK})
    file(READ_SYMLINK ${LINK} found)
    if(found STREQUAL FILE)
      return()
    endif()
  endif()
  file(CREATE_LINK ${FILE} ${LINK} SYMBOLIC)
endfunction()

# stope_headers(NAME [PROGRAM] [OPTIONS flags...] [LINK targets...] [HEADERS ...]): a target that holds only precompiled
# headers. With PROGRAM they are for programs, else for libraries. stope_use_headers(NAME targets...): these targets
# include them; they must be compiled with the same options.
function(stope_headers NAME)
  cmake_parse_arguments(ARG "PROGRAM" "" "OPTIONS;LINK;HEADERS" ${ARGN})
  if(NOT STOPE_PRECOMPILE)
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${NAME}.cpp CONTENT "int main() {}\n")
  if(ARG_PROGRAM)
    add_executable(${NAME} EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${NAME}.cpp)
  else()
    add_library(${NAME} OBJECT ${PROJECT_BINARY_DIR}/${NAME}.cpp)
  endif()
  target_link_libraries(${NAME} PRIVATE ${ARG_LINK} stope_flags)
  target_compile_options(${NAME} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${NAME} PRIVATE ${STOPE_STANDARD_HEADERS} ${ARG_HEADERS})
  target_compile_options(${NAME} PRIVATE "SHELL:-Xclang -fno-pch-timestamp") # or ccache would take it for another
endfunction()
function(stope_use_headers NAME)
  foreach(target ${ARGN})
    if(STOPE_PRECOMPILE)
      target_precompile_headers(${target} REUSE_FROM ${NAME})
    endif()
  endforeach()
endfunction()

# Only what public headers declare is exported (docs/adr/0025-small-calls.md).
set(STOPE_HIDDEN CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
stope_headers(stope_library_headers)
if(TARGET stope_library_headers)
  set_target_properties(stope_library_headers PROPERTIES ${STOPE_HIDDEN})
endif()
stope_headers(stope_program_headers PROGRAM)

# Optimising takes several times as long as translating. A build that is not kept may leave it out for what it hardly runs.
set(STOPE_QUICK "" CACHE STRING "What to compile without optimisation: cli, cuda (the plug-in), files (the plug-in)")

# A build for one run of the tests compiles sources together: their headers are read, and their templates compiled, once.
set(STOPE_JOIN OFF CACHE STRING "Compile sources several at a time: ON, OFF, or TESTS (those of tests only)")
set_property(CACHE STOPE_JOIN PROPERTY STRINGS OFF TESTS ON)
# stope_digest(OUT files...): OUT differs where the content of a file does.
function(stope_digest OUT)
  set(digests "")
  foreach(file ${ARGN})
    file(MD5 ${file} digest)
    list(APPEND digests ${file} ${digest})
  endforeach()
  string(MD5 digest "${digests}")
  set(${OUT} ${digest} PARENT_SCOPE)
endfunction()

if(STOPE_JOIN)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  # All that decides how sources are joined, beside themselves.
  set(_root ${PROJECT_SOURCE_DIR})
  set(STOPE_JOINER ${_root}/scripts/join_sources.py ${_root}/scripts/source_batches.py)
  file(GLOB_RECURSE _headers ${_root}/include/*.hpp ${_root}/src/*.hpp ${_root}/cli/*.hpp ${_root}/tests/*.hpp)
  stope_digest(STOPE_JOINER_DIGEST ${STOPE_JOINER} ${_headers})
endif()

# stope_join(OUT NAME [TESTS] OPTIONS flags... SOURCES files...): OUT is what to compile, with these options: the sources,
# or with STOPE_JOIN files that hold several (scripts/join_sources.py). Sources with options of their own stay as they are.
function(stope_join OUT NAME)
  cmake_parse_arguments(ARG "TESTS" "" "OPTIONS;SOURCES" ${ARGN})
  set(join ${STOPE_JOIN})
  if(join STREQUAL "TESTS")
    set(join ${ARG_TESTS})
  endif()
  set(common "")
  set(made "")
  foreach(source ${ARG_SOURCES})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(options OR definitions)
      list(APPEND made ${source})
    else()
      list(APPEND common ${source})
    endif()
  endforeach()
  if(join AND common)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${common} ${STOPE_JOINER})
    set(folder ${PROJECT_BINARY_DIR}/joined/${NAME})
    stope_digest(digest ${common})
    set(digest ${digest}${STOPE_JOINER_DIGEST})
    if(NOT EXISTS ${folder} OR NOT digest STREQUAL "${STOPE_JOINED_DIGEST_${NAME}}") # most configurations change nothing
      list(GET STOPE_JOINER 0 script)
      execute_process(COMMAND ${Python3_EXECUTABLE} ${script} ${folder} ${common}
        OUTPUT_VARIABLE joined OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      set(STOPE_JOINED_DIGEST_${NAME} ${digest} CACHE INTERNAL "")
      set(STOPE_JOINED_${NAME} "${joined}" CACHE INTERNAL "")
    endif()
    set(common ${STOPE_JOINED_${NAME}})
    list(APPEND ARG_OPTIONS -Wno-shadow) # a name of one source may be that of a variable in another
  endif()
  if(common AND ARG_OPTIONS)
    set_source_files_properties(${common} PROPERTIES COMPILE_OPTIONS "${ARG_OPTIONS}")
  endif()
  set(${OUT} ${made} ${common} PARENT_SCOPE)
endfunction()

# stope_module(NAME LINK targets...): src/NAME/**.cpp as the static library stope_NAME; its cuda/ folder belongs to the
# plug-in (StopeCuda.cmake).
function(stope_module NAME)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${NAME}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/cuda/")
  set(fuzzed ${sources})
  list(FILTER fuzzed INCLUDE REGEX ${STOPE_FUZZED_SOURCES})
  list(REMOVE_ITEM sources ${fuzzed})
  set(counters "")
  if(STOPE_BUILD_FUZZ)
    set(counters -fsanitize-coverage=inline-8bit-counters,pc-table,indirect-calls,trace-cmp)
  endif()
  stope_join(sources ${NAME} SOURCES ${sources})
  stope_join(fuzzed ${NAME}_fuzzed OPTIONS ${counters} SOURCES ${fuzzed})
  add_library(stope_${NAME} STATIC ${sources} ${fuzzed})
  target_include_directories(stope_${NAME} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(stope_${NAME} PUBLIC ${ARG_LINK} PRIVATE stope_flags)
  set_target_properties(stope_${NAME} PROPERTIES ${STOPE_HIDDEN})
  stope_use_headers(stope_library_headers stope_${NAME})
endfunction()

# A build that need not repeat every test says here which programs of tests it makes. The others are made by name only.
set(STOPE_TEST_PROGRAMS "" CACHE STRING "A regular expression of the test programs to build; all if it is empty")

# stope_test(NAME SOURCES files... LINK targets... [SHARDS n] [COST n]): a GoogleTest binary, registered with ctest as n
# tests that share out its cases. ctest starts the tests of highest cost first.
function(stope_test NAME)
  cmake_parse_arguments(ARG "" "SHARDS;COST" "SOURCES;LINK" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  stope_join(sources ${NAME} TESTS SOURCES ${ARG_SOURCES})
  add_executable(${NAME} ${sources})
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${NAME} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main stope_flags)
  target_compile_definitions(${NAME} PRIVATE
    STOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" STOPE_DEFAULT_EFFORT=${STOPE_DEFAULT_EFFORT})
  if(STOPE_TEST_PROGRAMS AND NOT NAME MATCHES "${STOPE_TEST_PROGRAMS}")
    set_target_properties(${NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  if(NOT ARG_COST)
    set(ARG_COST 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(test ${NAME})
    set(environment ${STOPE_TEST_ENVIRONMENT})
    if(ARG_SHARDS GREATER 1)
      math(EXPR index "${shard} - 1")
      set(test ${NAME}_${shard})
      list(APPEND environment GTEST_TOTAL_SHARDS=${ARG_SHARDS} GTEST_SHARD_INDEX=${index})
    endif()
    add_test(NAME ${test} COMMAND ${NAME})
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment}" COST ${ARG_COST})
  endforeach()
endfunction()

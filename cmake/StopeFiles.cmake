# The plug-in for files libstope_files.so (docs/adr/0038-files-plug-in.md): Parquet and Arrow IPC, a Rust crate.
#
# STOPE_FILES: ON needs cargo, OFF builds no plug-in, AUTO (the default) builds it where there is a cargo that is new
# enough. The core is the same in all three cases, except for what it says about a missing plug-in. Cargo.lock pins all
# crates, and cargo downloads those that it lacks.

set(STOPE_FILES AUTO CACHE STRING "Build the plug-in for Parquet and Arrow files: AUTO (where cargo is), ON or OFF")
set_property(CACHE STOPE_FILES PROPERTY STRINGS AUTO ON OFF)

# plugins/files/Cargo.toml says the same.
set(STOPE_LEAST_RUST 1.88)
function(stope_validate_cargo RESULT PROGRAM)
  execute_process(COMMAND ${PROGRAM} --version OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE code)
  string(REGEX MATCH "cargo ([0-9.]+)" release "${text}")
  if(NOT code EQUAL 0 OR CMAKE_MATCH_1 VERSION_LESS STOPE_LEAST_RUST)
    set(${RESULT} FALSE PARENT_SCOPE)
  endif()
endfunction()

set(STOPE_WITH_FILES 0)
if(NOT STOPE_FILES STREQUAL "OFF" AND NOT STOPE_SANITIZE)
  find_program(STOPE_CARGO NAMES cargo PATHS $ENV{HOME}/.cargo/bin VALIDATOR stope_validate_cargo DOC "Rust's cargo")
  if(STOPE_CARGO)
    set(STOPE_WITH_FILES 1)
  else()
    unset(STOPE_CARGO CACHE) # it may be installed later
    if(STOPE_FILES STREQUAL "ON")
      message(FATAL_ERROR "STOPE_FILES=ON, but there is no cargo of Rust ${STOPE_LEAST_RUST} or newer: see https://rustup.rs")
    endif()
  endif()
endif()

if(STOPE_WITH_FILES)
  # One folder for what all build folders compile: nothing in it depends on their options. cargo locks it.
  set(STOPE_FILES_CRATE ${PROJECT_SOURCE_DIR}/plugins/files)
  set(STOPE_FILES_TARGET ${PROJECT_SOURCE_DIR}/build/cargo CACHE PATH "Where cargo compiles the plug-in for files")
  set(STOPE_FILES_LIBRARY ${PROJECT_BINARY_DIR}/libstope_files.so)
  message(STATUS "Plug-in for files: ${STOPE_CARGO}")
  set(_profile release)
  if("files" IN_LIST STOPE_QUICK)
    set(_profile quick)
  endif()
  file(GLOB _files_sources CONFIGURE_DEPENDS ${STOPE_FILES_CRATE}/src/*.rs)
  add_custom_command(OUTPUT ${STOPE_FILES_LIBRARY}
    COMMAND ${CMAKE_COMMAND} -E env --unset=CARGO_TARGET_DIR ${STOPE_CARGO} build --profile ${_profile} --locked --quiet
      --manifest-path ${STOPE_FILES_CRATE}/Cargo.toml --target-dir ${STOPE_FILES_TARGET}
    COMMAND ${CMAKE_COMMAND} -E copy ${STOPE_FILES_TARGET}/${_profile}/libstope_files.so ${STOPE_FILES_LIBRARY}
    DEPENDS ${_files_sources} ${STOPE_FILES_CRATE}/Cargo.toml ${STOPE_FILES_CRATE}/Cargo.lock
    COMMENT "Building the plug-in for files with cargo" USES_TERMINAL VERBATIM)
  add_custom_target(stope_files ALL DEPENDS ${STOPE_FILES_LIBRARY})
endif()

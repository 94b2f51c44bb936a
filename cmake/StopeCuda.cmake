# The CUDA plug-in libstope_cuda.so (docs/adr/0006-cuda-plug-in.md): where its compiler comes from and how it is built.
#
# STOPE_CUDA: ON needs a CUDA compiler, OFF builds no plug-in, AUTO (the default) builds it where there is a compiler.
# The core is the same in all three cases, except for what it says about a missing plug-in.

set(STOPE_CUDA AUTO CACHE STRING "Build the CUDA plug-in: AUTO (where there is a compiler), ON or OFF")
set_property(CACHE STOPE_CUDA PROPERTY STRINGS AUTO ON OFF)
# Written as in CMAKE_CUDA_ARCHITECTURES. A release takes every GPU since Turing, and PTX for future ones.
set(STOPE_CUDA_ARCHS "80-real;90a-real" CACHE STRING "What the plug-in is compiled for")

# The device code is C++20, which older compilers do not know.
set(STOPE_LEAST_CUDA 12.0)
function(stope_validate_cuda_compiler RESULT PROGRAM)
  execute_process(COMMAND ${PROGRAM} --version OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE code)
  string(REGEX MATCH "release ([0-9.]+)" release "${text}")
  if(NOT code EQUAL 0 OR NOT CMAKE_MATCH_1 VERSION_GREATER_EQUAL STOPE_LEAST_CUDA)
    set(${RESULT} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Finds a compiler: the one that CUDACXX names, one in the path, one where NVIDIA's packages put it, or one from the
# wheels that scripts/bootstrap.sh installs into .venv. STOPE_CUDA_COMPILER becomes empty if there is none.
function(stope_find_cuda_compiler)
  file(GLOB wheels ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu*/bin)
  find_program(STOPE_CUDA_COMPILER NAMES $ENV{CUDACXX} nvcc PATHS /usr/local/cuda/bin ${wheels}
    VALIDATOR stope_validate_cuda_compiler DOC "CUDA compiler")
  if(NOT STOPE_CUDA_COMPILER)
    unset(STOPE_CUDA_COMPILER CACHE) # bootstrap may install one later
  endif()
endfunction()

# "80-real" -> "sm_80", "120-virtual" -> "compute_120", "120" -> both: the names that the core compares with GPUs.
function(stope_cuda_arch_names OUT)
  set(names "")
  foreach(arch ${STOPE_CUDA_ARCHS})
    string(REGEX REPLACE "-.*" "" number ${arch})
    if(NOT arch MATCHES "-virtual$")
      list(APPEND names sm_${number})
    endif()
    if(NOT arch MATCHES "-real$")
      list(APPEND names compute_${number})
    endif()
  endforeach()
  list(JOIN names " " names)
  set(${OUT} ${names} PARENT_SCOPE)
endfunction()

set(STOPE_WITH_CUDA 0)
if(NOT STOPE_CUDA STREQUAL "OFF" AND NOT STOPE_SANITIZE)
  stope_find_cuda_compiler()
  if(STOPE_CUDA_COMPILER)
    set(STOPE_WITH_CUDA 1)
  elseif(STOPE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "STOPE_CUDA=ON, but there is no CUDA compiler: run scripts/bootstrap.sh --cuda or set CUDACXX")
  endif()
endif()

if(STOPE_WITH_CUDA)
  message(STATUS "CUDA plug-in: ${STOPE_CUDA_COMPILER}, for ${STOPE_CUDA_ARCHS}")
  # The root of the toolkit, through links such as /usr/bin/nvcc. The wheels keep their libraries in lib, where their own
  # nvcc does not look.
  file(REAL_PATH ${STOPE_CUDA_COMPILER} _nvcc)
  cmake_path(GET _nvcc PARENT_PATH _cuda_root)
  cmake_path(GET _cuda_root PARENT_PATH _cuda_root)
  set(CMAKE_CUDA_COMPILER ${STOPE_CUDA_COMPILER})
  if(EXISTS ${_cuda_root}/lib/libcudart_static.a AND NOT CMAKE_CUDA_FLAGS)
    set(CMAKE_CUDA_FLAGS "-L${_cuda_root}/lib" CACHE STRING "Flags of the CUDA compiler")
  endif()
  # nvcc knows few versions of clang; this project is tested with g++.
  find_program(STOPE_CUDA_HOST_COMPILER NAMES g++ ${CMAKE_CXX_COMPILER} DOC "Host compiler of the CUDA compiler")
  set(CMAKE_CUDA_HOST_COMPILER ${STOPE_CUDA_HOST_COMPILER})
  set(CMAKE_CUDA_ARCHITECTURES ${STOPE_CUDA_ARCHS})
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  if(STOPE_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${STOPE_CCACHE})
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # Debian 12's CMake does not know that nvcc speaks it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()

  file(GLOB_RECURSE _cuda_sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/*/cuda/*.cpp ${PROJECT_SOURCE_DIR}/src/*/cuda/*.cu)
  # The plug-in has its own copy of the core's error type. Exceptions do not cross the border, so the two copies never
  # meet. It also has its own copy of the reader of the environment, which holds no state.
  add_library(stope_cuda MODULE ${_cuda_sources}
    ${PROJECT_SOURCE_DIR}/src/base/error.cpp ${PROJECT_SOURCE_DIR}/src/base/environment.cpp)
  target_include_directories(stope_cuda PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(stope_cuda SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  stope_cuda_arch_names(_arch_names)
  target_compile_definitions(stope_cuda PRIVATE "STOPE_CUDA_ARCH_NAMES=\"${_arch_names}\"")
  target_link_libraries(stope_cuda PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  # The device must not fuse multiply-adds either, but where __fma_rn says so. Division and square root are correctly rounded by default.
  target_compile_options(stope_cuda PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:$<TARGET_PROPERTY:stope_flags,INTERFACE_COMPILE_OPTIONS>>
    $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false -Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror,-ffp-contract=off>)
  if("cuda" IN_LIST STOPE_QUICK AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(stope_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=max>)
  endif()
  # One symbol leaves the library: the program may hold another copy of CUDA's runtime, or of ours.
  set_target_properties(stope_cuda PROPERTIES
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} CUDA_SEPARABLE_COMPILATION OFF)
  target_link_options(stope_cuda PRIVATE -Wl,--no-undefined
    -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/stope_cuda.map)
  set_target_properties(stope_cuda PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/stope_cuda.map)
endif()

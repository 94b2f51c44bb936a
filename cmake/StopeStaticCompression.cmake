# stope_static_compression: zlib and zstd as static libraries. What the bindings ship must not need those of the machine on
# which it runs.
add_library(stope_static_compression INTERFACE)
foreach(name z zstd)
  find_library(STOPE_STATIC_${name} lib${name}.a)
  if(NOT STOPE_STATIC_${name})
    message(FATAL_ERROR "There is no lib${name}.a to link into a binding: install it (on Debian, zlib1g-dev and "
      "libzstd-dev have them) or name it with -DSTOPE_STATIC_${name}=FILE")
  endif()
  target_link_libraries(stope_static_compression INTERFACE ${STOPE_STATIC_${name}})
endforeach()

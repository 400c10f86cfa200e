# Compiler settings every target of the project shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# Libraries end up in the extension module, a shared object.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(GRAFT_MOLD mold)
add_library(graft_options INTERFACE)
target_compile_options(graft_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -Werror)
target_include_directories(graft_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
# A path in a log message or an assertion must not name the build machine.
target_compile_options(graft_options INTERFACE -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(GRAFT_MOLD)
  target_link_options(graft_options INTERFACE -fuse-ld=mold)
endif()
if(GRAFT_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  if(GRAFT_FUZZERS)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endif()

find_package(fmt REQUIRED)
set(OPENSSL_USE_STATIC_LIBS ON)  # the device machine has no OpenSSL of Debian's
find_package(OpenSSL 3 REQUIRED)
find_package(Threads REQUIRED)
if(GRAFT_TESTS)
  find_package(GTest REQUIRED)
endif()
if(GRAFT_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

configure_file(${CMAKE_SOURCE_DIR}/cmake/version.h.in ${CMAKE_BINARY_DIR}/generated/base/version.h @ONLY)

// What a program can still do when another one cuts a file short that it has mapped.
#pragma once

#pragma GCC visibility push(default)
namespace stope {

/// For a handler of SIGBUS, which Linux sends to whoever reads a mapping behind the end of its file. Returns the name
/// of the input that is mapped at `address`, fit to be shown, or null where no file of a reader is.
const char* lost_input(const void* address) noexcept;

/// For a handler after which the process ends: removes the temporary files of outputs that are not complete. Then an
/// output is absent or old.
void remove_unfinished_outputs() noexcept;

}  // namespace stope
#pragma GCC visibility pop

// How the page looks: one style sheet for light, dark and printed pages.
#pragma once

#include "page/markup.hpp"

namespace stope::cli::page {

/// Writes the element <style>.
void write_style(Markup& out);
/// Writes the textures that tell classes apart without colour. Figures refer to them, so the page holds them once.
void write_textures(Markup& out);

}  // namespace stope::cli::page

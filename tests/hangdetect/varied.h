#pragma once

#include <map>
#include <string>

#include "tests/hangdetect/pastes.h"
#include "tests/support/paste_variants.h"

namespace ringside::hang {

/// The paste as the variant has it.
Paste varied(const Paste& paste, const pastes::Variant& variant);

/// The variant's name as a test's.
std::string test_name(const pastes::Variant& variant);

/// How all pastes of a folder fared in one variant.
struct PasteResult {
  std::map<std::string, PasteTally> tally;  ///< by answerable
  std::string wrong;                        ///< a line for each that was not right
};
PasteResult score_pastes(const std::string& folder, const pastes::Variant& variant);

}  // namespace ringside::hang

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/hangdetect/pastes.h"

namespace ringside::hang {

/// A way in which text changes between a terminal and a thread.
struct PasteVariant {
  std::string_view name;
  std::string (*apply)(const std::string& text);
  std::string_view extension;  ///< the file's in place of its own; empty: its own stays
};

/// All of them: the first leaves everything as it is.
const std::vector<PasteVariant>& paste_variants();

/// The paste as the variant has it.
Paste varied(const Paste& paste, const PasteVariant& variant);

/// The variant's name as a test's.
std::string test_name(const PasteVariant& variant);

/// How all pastes of a folder fared in one variant.
struct PasteResult {
  std::map<std::string, PasteTally> tally;  ///< by answerable
  std::string wrong;                        ///< a line for each that was not right
};
PasteResult score_pastes(const std::string& folder, const PasteVariant& variant);

}  // namespace ringside::hang

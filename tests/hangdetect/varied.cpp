#include "tests/hangdetect/varied.h"

#include <algorithm>
#include <filesystem>

namespace ringside::hang {

Paste varied(const Paste& paste, const pastes::Variant& variant) {
  Paste out = paste;
  for (PasteFile& file : out.files) {
    file.text = variant.change(file.text);
    if (!variant.extension.empty()) {
      file.name = std::filesystem::path(file.name).stem().string() + std::string(variant.extension);
    }
  }
  return out;
}

std::string test_name(const pastes::Variant& variant) {
  std::string name(variant.name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == ','; }, '_');
  return name;
}

PasteResult score_pastes(const std::string& folder, const pastes::Variant& variant) {
  PasteResult result;
  for (const Paste& paste : load_pastes(folder)) {
    const Paste one = varied(paste, variant);
    const PasteScore score = score_paste(one);
    PasteTally& tally = result.tally[paste.answerable];
    ++tally.all;
    tally.right += score.is_right() ? 1 : 0;
    if (!score.is_right()) result.wrong += "\n" + line_of(one, score);
  }
  return result;
}

}  // namespace ringside::hang

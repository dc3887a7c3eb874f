#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// One file of a paste.
struct PasteFile {
  std::string name;
  std::string text;
};

/// A hang as somebody pasted it, and what is right to say of it.
struct Paste {
  std::string id;
  std::string answerable;                  ///< yes, partly, no, not_a_hang
  std::vector<std::string> kinds;          ///< right and fair answers
  std::vector<std::vector<int>> culprits;  ///< right and fair sets; an empty one: nobody is named
  std::vector<PasteFile> files;
};

/// Pastes of a folder with labels.json, in its order. Throws where it is broken.
std::vector<Paste> load_pastes(const std::string& folder);

/// The verdict on a paste beside its label.
struct PasteScore {
  std::string kind;
  std::vector<int> culprits;
  double confidence = 0;
  std::string why;
  bool is_kind_right = false;
  bool are_culprits_right = false;

  [[nodiscard]] bool is_right() const { return is_kind_right && are_culprits_right; }
};

/// Writes the files into a folder of their own, examines it as `ringside hang` does, and compares.
PasteScore score_paste(const Paste& paste);

/// The best explanation of one text, which is in memory.
Explanation verdict_on(const std::string& text);

/// One line for a person: the case, the verdict, the label.
std::string line_of(const Paste& paste, const PasteScore& score);

/// How a class of pastes fared.
struct PasteTally {
  int right = 0;
  int all = 0;
  [[nodiscard]] double share() const {
    return all == 0 ? 1 : static_cast<double>(right) / static_cast<double>(all);
  }
};

}  // namespace ringside::hang

#pragma once

#include <string>
#include <vector>

#include "diag/hangdetect/verdict/verdict.h"
#include "tests/diag/outcome.h"
#include "tests/support/paste_variants.h"

/// Jobs whose correct verdict is known. Only tests read the labels.
namespace ringside::hang {

struct TextFile {
  std::string name = {};
  std::string text = {};
};

struct LabelledHang {
  std::string id = {};
  std::string answerable = "yes";       ///< yes, partly, no, not_a_hang
  std::vector<std::string> kinds = {};  ///< accepted kinds; the first one is the true one
  /// The accepted sets of culprits; an empty set: no rank can be named.
  std::vector<std::vector<int>> culprits = {};
  std::vector<int> exact = {};         ///< the ranks that the fault was injected into
  std::vector<std::string> says = {};  ///< words that the reason must contain
  std::string folder = {};             ///< the folder of its files; empty: they are in `files`
  std::vector<TextFile> files = {};
};

/// Loads a folder with a label.json (corpus/fr, corpus/fr-torch) or a truth.json (`ringside generate hangs`). Throws
/// if the label is invalid, as the functions below do.
LabelledHang load_labelled_dumps(const std::string& folder);
/// Loads all such folders below a folder, sorted.
std::vector<LabelledHang> load_all_labelled_dumps(const std::string& folder);
/// Loads texts from a folder with a labels.json, in its order.
std::vector<LabelledHang> load_labelled_texts(const std::string& folder);

/// Returns the hang with its texts changed by the variant.
LabelledHang varied(LabelledHang hang, const pastes::Variant& variant);

/// The verdict on a case, compared with its label.
struct ScoredHang {
  std::string kind = {};
  std::vector<int> culprits = {};
  double confidence = 0;
  std::string why = {};
  bool is_kind_right = false;
  bool are_culprits_right = false;
  bool is_exact = false;
  diag::Outcome outcome = diag::Outcome::Silent;

  [[nodiscard]] bool is_right() const { return is_kind_right && are_culprits_right; }
  [[nodiscard]] bool is_confident_wrong() const { return confidence >= 0.8 && !are_culprits_right; }
};

/// Examines the files as `ringside hang` does. Throws if that fails.
Verdict verdict_on(const LabelledHang& hang);

/// Returns whether kind and culprits are ones that the label accepts.
bool is_right(const LabelledHang& hang, const Explanation& one);

/// Compares the verdict with the label.
ScoredHang score(const LabelledHang& hang);

/// Returns the score as a row of the baseline.
diag::Answer answer_of(const LabelledHang& hang);

/// Returns e.g. "cycle-a: missing_rank [1] at 0.85; label deadlock_cycle [0,1] or []: ...".
std::string line_of(const LabelledHang& hang, const ScoredHang& scored);

/// Returns the best explanation of a text in memory.
Explanation verdict_on(const std::string& text);

}  // namespace ringside::hang

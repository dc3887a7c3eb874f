#pragma once

#include <string>
#include <vector>

namespace ringside::hang {

/// What is right to say of a case, from its label: read by tests only, never by the product.
struct Label {
  std::string id;
  std::string kind;                        ///< what was injected
  std::vector<std::string> kinds;          ///< right answers
  std::vector<std::vector<int>> culprits;  ///< right answers; an empty one: nobody can be named
  std::vector<int> exact;                  ///< the minimal guilty set
};

/// The verdict on one case beside its label.
struct Scored {
  Label label;
  std::string kind;
  std::vector<int> culprits;
  double confidence = 0;
  bool is_culprit_right = false;
  bool is_exact = false;
  bool is_kind_right = false;

  [[nodiscard]] bool is_confident_wrong() const { return confidence >= 0.8 && !is_culprit_right; }
};

/// One line for a person: the case, the verdict, the label.
std::string line_of(const Scored& one);

/// label.json or truth.json of a case's folder; throws where it is broken.
Label load_label(const std::string& path);

/// Examines the folder as `ringside hang` does and compares.
Scored score(const std::string& folder, const Label& label);

/// Cases below corpus/<set> of the shared folder: folders that hold a label.json, sorted. Throws as shared_folder().
std::vector<std::string> corpus_cases(const std::string& set);

}  // namespace ringside::hang

#include <cstdio>

#include "tests/audit/accuracy.h"

// usage: ringside_audit_accuracy
// Audits the corpus and prints docs/audit-accuracy.md.
int main() {
  const auto folder = ringside::corpus::logs_folder();
  if (!folder) {
    std::fputs("no corpus: set RINGSIDE_SHARED to the folder that holds corpus/\n", stderr);
    return 2;
  }
  std::fputs(ringside::corpus::accuracy_page(ringside::corpus::audit_corpus(*folder)).c_str(),
             stdout);
  return 0;
}

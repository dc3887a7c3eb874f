#include <cstdio>
#include <exception>

#include "tests/audit/accuracy.h"

// usage: ringside_audit_accuracy
// Audits the corpus and prints docs/audit-accuracy.md.
int main() {
  try {
    std::fputs(ringside::corpus::accuracy_page(ringside::corpus::audit_corpus()).c_str(), stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

#include <cstdio>
#include <exception>

#include "tests/audit/accuracy.h"

// usage: ringside_audit_accuracy
// Audits the corpus and the pastes, and prints docs/audit-accuracy.md.
int main() {
  using namespace ringside;
  try {
    std::fputs(corpus::accuracy_page(corpus::audit_corpus()).c_str(), stdout);
    std::fputs(
        corpus::unread_page(corpus::unread_lines("logs"), corpus::unread_lines("pastes")).c_str(),
        stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

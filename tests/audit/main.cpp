#include <cstdio>
#include <exception>

#include "tests/audit/accuracy.h"
#include "tests/audit/pastes.h"

// usage: ringside_audit_accuracy
// Audits the corpus and the pastes, and prints docs/audit-accuracy.md.
int main() {
  using namespace ringside;
  try {
    std::fputs(corpus::accuracy_page(corpus::audit_corpus()).c_str(), stdout);
    std::fputs(
        "\n## Pastes\n\n41 excerpts from issues and notes whose cause is established, as they are "
        "and in the forms that "
        "people\ngive a log (`tests/audit/pastes.txt` says what counts as named; the rules were "
        "written with them in sight):"
        "\n\n",
        stdout);
    std::fputs(pastes::forms_table(pastes::labelled_pastes(), false).c_str(), stdout);
    std::fputs(
        corpus::unread_page(corpus::unread_lines("logs"), corpus::unread_lines("pastes")).c_str(),
        stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

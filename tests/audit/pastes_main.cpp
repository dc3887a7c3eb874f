#include <cstdio>
#include <exception>
#include <string_view>

#include "tests/audit/pastes.h"

// usage: ringside_audit_pastes [--wrong]
// Audits the labelled pastes in all their variants and prints how many are answered as pastes.txt demands.
int main(int argc, char** argv) {
  using namespace ringside::pastes;
  const bool shows_wrong = argc > 1 && std::string_view(argv[1]) == "--wrong";
  try {
    std::fputs(forms_table(labelled_pastes(), shows_wrong).c_str(), stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

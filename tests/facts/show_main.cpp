// Prints the facts of files as the catalogue reads them: ringside_show_facts FILE...

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "diag/facts/reader.h"
#include "diag/facts/schema.h"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const ringside::facts::Facts facts = ringside::facts::facts_of_text(text, argv[i]);
    ringside::facts::each_list(facts, [](const auto& list) {
      for (const auto& fact : list) {
        std::printf("%s:%lld: %s\n    %s\n", fact.source.file.c_str(),
                    static_cast<long long>(fact.source.line),
                    ringside::facts::to_text(fact).c_str(), fact.source.text.c_str());
      }
    });
    std::printf("%s: %llu lines, %llu of them without a fact\n", argv[i],
                static_cast<unsigned long long>(facts.lines),
                static_cast<unsigned long long>(facts.unread));
  }
  return 0;
}

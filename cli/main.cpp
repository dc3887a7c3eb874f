#include "cli/app.h"

int main(int argc, char** argv) {
  return ringside::cli::run_words(std::vector<std::string>(argv + 1, argv + argc));
}

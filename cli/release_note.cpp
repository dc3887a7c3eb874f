#include "cli/release_note.h"

#include <fmt/format.h>

#include <cstdio>

#include "engine/releases/releases.h"

namespace ringside::cli {

void note_unverified(std::string_view release) {
  const std::string caveat = release_caveat(release);
  if (!caveat.empty()) fmt::print(stderr, "note: NCCL {} is not verified: {}\n", release, caveat);
}

}  // namespace ringside::cli

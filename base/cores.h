#pragma once

namespace ringside {

/// Returns how many threads should share work that is divided: as many as the user asks for, or one a core.
///
/// wanted   0: one a core
/// returns  at least 1; always 1 where the platform has no threads, as in a browser
int worker_count(int wanted = 0);

}  // namespace ringside

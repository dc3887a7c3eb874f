#include "cli/all_verbs.h"

#include <memory>

#include "cli/options.h"
#include "web/platform/absent.h"

namespace ringside::cli {
namespace {

/// A verb that only the installed program has. It takes all options, and refuses by name.
Verb absent_verb(const std::string& name, const std::string& why) {
  return {name, "Not in a browser: " + why, {}, [name, why](Options& app) {
            auto words = std::make_shared<std::vector<std::string>>();
            app.pass_all_words(*words);
            return [words, name, why]() -> VerbResult {
              return not_in_browser("ringside " + name, why);
            };
          }};
}

}  // namespace

std::vector<Verb> all_verbs() {
  return {absent_verb("demo", "it starts processes"),
          absent_verb("probe", "it looks at this machine"),
          audit_verb(),
          hang_verb(),
          absent_verb("attach", "it connects to a running job"),
          absent_verb("bench", "it starts processes and measures them"),
          sim_verb(),
          absent_verb("sweep", "it keeps results in a database and uses all cores"),
          absent_verb("run", "it starts processes"),
          absent_verb("reproduce", "it writes files for ringside run"),
          absent_verb("scenario", "it writes files for ringside run"),
          explain_verb(),
          absent_verb("validate", "it reads folders of measurements"),
          topo_verb(),
          absent_verb("generate", "it writes folders of files"),
          trace_verb(),
          absent_verb("gui", "it opens a window; ringside trace export --html plays a trace")};
}

}  // namespace ringside::cli

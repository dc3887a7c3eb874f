#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "study/simulation.h"

/// "What if?": a question to the simulator, compared with the same question with changes.
namespace ringside::study {

/// A key that can be varied: the word before the `=`. In addition, every variable of NCCL that has an effect, and
/// every key of a cluster's fabric as `fabric.KEY`.
struct WhatIfKey {
  std::string_view name;
  std::string_view what;
  Status (*apply)(SimQuestion& question, const std::string& value);
};
std::span<const WhatIfKey> what_if_keys();

/// A key to be varied, and its values.
struct VaryAxis {
  std::string key;
  std::vector<std::string> values;
};
/// text    KEY=V1,V2,... A comma within brackets or quotes belongs to the value: NCCL_ALGO="Ring,Tree",NVLS and
///         fabric.dims=[4,2],[8,1] have two values each; quotes around a whole value are not part of it
/// errors  InvalidArgument: no KEY=VALUE, an empty value, a bracket or quote without its end
Result<VaryAxis> parse_vary(const std::string& text);

/// Sets one key; a later setting overrides an earlier one.
/// errors  InvalidArgument: an unknown key (the nearest is named), or an invalid value
Status apply_setting(SimQuestion& question, const std::string& key, const std::string& value);

struct Variant {
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< none: the base
  SimQuestion question;

  [[nodiscard]] std::string label() const;  ///< "nics=4 gdr=off", "base"
};

/// The base, and then each combination of the values.
///
/// vary       KEY=V1,V2,... : several give the grid of them all
/// drop_rail  one more variant: the base without this NIC on each host
/// errors     InvalidArgument: no KEY=VALUE, an unknown key (the nearest is named), a key twice, an invalid value, a
///            trace of several runs, more than kMostVariants
Result<std::vector<Variant>> variants_of(const SimQuestion& base,
                                         const std::vector<std::string>& vary,
                                         std::optional<int> drop_rail);

inline constexpr std::size_t kMostVariants = 256;

/// One variant, checked. The base always has a plan.
struct PlannedVariant {
  Variant variant;
  std::optional<SimPlan> plan = {};  ///< none: it cannot be simulated
  std::string refusal = {};          ///< why not, and the fix
};

/// errors  as plan_simulation(), for the base: the other variants are independent of each other
Result<std::vector<PlannedVariant>> plan_variants(std::vector<Variant> variants);

/// One call of a variant, or why it cannot be simulated.
struct VariantCall {
  std::optional<SimRow> row = {};
  std::string refusal = {};
};

/// progress  as simulate_call()
/// errors    as tune_call() and simulate_call(), of the base; Aborted: of any
Result<VariantCall> simulate_variant(const PlannedVariant& planned, Bytes size,
                                     const std::function<void(double)>& progress = {});

/// The name of the link that limits, or limit_of().
std::string limit_text(const SimRow& row);

}  // namespace ringside::study

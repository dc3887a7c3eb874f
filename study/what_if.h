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

/// Compares a simulation with variants of the same question.
namespace ringside::study {

/// A key that can be varied: the word before the `=`. Other valid keys are each effective NCCL
/// variable, and each key of a cluster's fabric as `fabric.KEY`.
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
/// Parses a key and its values. The key may be unknown: apply_setting() checks it.
/// text    KEY=V1,V2,... A comma within brackets or quotes belongs to the value:
///         NCCL_ALGO="Ring,Tree",NVLS and fabric.dims=[4,2],[8,1] have two values each. Quotes
///         around a whole value are removed
/// errors  InvalidArgument: no KEY=VALUE, an empty value, an unclosed bracket or quote
Result<VaryAxis> parse_vary(const std::string& text);

/// Sets one key; a later setting overrides an earlier one.
/// errors  InvalidArgument: an unknown key (with the nearest known one), or an invalid value
Status apply_setting(SimQuestion& question, const std::string& key, const std::string& value);

/// One combination of values of `--vary`.
struct Variant {
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< empty: the base
  SimQuestion question;

  [[nodiscard]] std::string label() const;  ///< "nics=4 gdr=off", "base"
};

inline constexpr std::size_t kMostVariants = 256;  ///< combinations of values

/// Returns the base, followed by each combination of the values.
///
/// vary       KEY=V1,V2,... per entry; several entries give the grid of all combinations
/// drop_rail  adds one variant: the base without this NIC on each host
/// errors     InvalidArgument: no KEY=VALUE, an unknown key (with the nearest known one), a
///            repeated key, an invalid value, a trace of several runs, more than kMostVariants
Result<std::vector<Variant>> variants_of(const SimQuestion& base,
                                         const std::vector<std::string>& vary,
                                         std::optional<int> drop_rail);

/// A checked variant. The base always has a plan.
struct PlannedVariant {
  Variant variant;
  std::optional<SimPlan> plan = {};  ///< none: it cannot be simulated
  std::string refusal = {};          ///< reason and fix if `plan` is empty
};

/// Plans each variant's simulation.
/// errors  as plan_simulation(), for the base only; errors of other variants become their `refusal`
Result<std::vector<PlannedVariant>> plan_variants(std::vector<Variant> variants);

/// One call of a variant, or the reason why it cannot be simulated.
struct VariantCall {
  std::optional<SimRow> row = {};
  std::string refusal = {};
};

/// Simulates the variant's call of one size.
/// shape     the variant has a plan
/// progress  as simulate_call()
/// errors    those of tune_call() and simulate_call(), for the base only; Aborted: for any variant
Result<VariantCall> simulate_variant(const PlannedVariant& planned, Bytes size,
                                     const std::function<void(double)>& progress = {});

/// Returns the name of the link that limits the call, or limit_of().
std::string limit_text(const SimRow& row);

}  // namespace ringside::study

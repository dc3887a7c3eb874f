#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/hangs/outline_schema.h"

/// What a scenario may hold, in addition to its steps (harness/hangs/outline_schema.h).
namespace ringside {

using hangs::SchemaKey;

std::span<const SchemaKey> scenario_keys();
std::span<const SchemaKey> cluster_keys();
std::span<const SchemaKey> expect_keys();
std::span<const SchemaKey> expect_hang_keys();
std::span<const SchemaKey> expect_finished_keys();
/// Of all workloads; which has which: workload_kinds().
std::span<const SchemaKey> workload_keys();

/// The keys alone, for YamlMapping::check().
std::vector<std::string_view> names_of(std::span<const SchemaKey> keys);

/// The tables of docs/reference/scenarios.md.
std::string schema_tables();

}  // namespace ringside

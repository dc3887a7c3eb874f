#pragma once

#include <string>
#include <vector>

#include "diag/hangdetect/verdict/explain.h"

/// What explain_logs() is made of: statements of one sort, and explanations that rest on them.
namespace ringside::hang {

/// As a person is shown it.
Evidence evidence_of(const LogStatement& one);

std::vector<const LogStatement*> all_of(const LogFacts& facts, LogStatement::What what);

/// Each once, ascending.
std::vector<int> ranks_of(const std::vector<const LogStatement*>& statements);

/// An explanation that some lines give by themselves; the first six are its evidence.
Explanation told(Kind kind, const std::vector<const LogStatement*>& statements,
                 std::vector<int> ranks, double confidence, std::string why);

/// Where the first of them that says so was; empty: none does.
std::string where_of(const std::vector<const LogStatement*>& statements);

/// The program tells that it has come to its end, and nobody timed out.
bool has_ended_well(const LogFacts& facts);

/// The first process that ended by itself: not one that a watchdog or launcher ended.
void add_deaths(const LogFacts& facts, std::vector<Explanation>& out);

/// Others lost the store, or the connection to a peer: whoever held the other end went first.
void add_lost(const LogFacts& facts, std::vector<Explanation>& out);

/// Who was busy with something else when others gave up: a checkpoint, its data, a file system.
void add_busy(const Scene& scene, const LogFacts& facts, std::vector<Explanation>& out);

/// What tables of other tools, the kernel and each rank's last line hint at, where somebody waits or says that it hangs.
void add_hints(const LogFacts& facts, std::vector<Explanation>& out);

/// What the rows of a table that somebody made of dumps show: who stands in another call than most.
void add_rows(const LogFacts& facts, std::vector<Explanation>& out);

/// Who closed its group while others waited in it.
void add_left(const LogFacts& facts, std::vector<Explanation>& out);

}  // namespace ringside::hang

#pragma once

#include <string_view>

#include "diag/logparse/message.h"

/// Whether a text is about a job of several GPUs at all: kernels, containers and servers use many of the same words.
namespace ringside::job {

/// Whether the message can come from any program, as those of an operating system or a container: `Too many open
/// files`, `OOMKilled`.
bool is_of_anybody(logs::MessageId id);

/// Whether a line is of the stack or its launchers, by its prefix or kind, or names a program of such a job: Python,
/// a launcher, a GPU. A message of is_of_anybody() counts only if this holds for it or for another line of the text.
bool is_of_job(const logs::Record& record);

/// `1` of `VLLM::Worker_TP1`, `sglang::scheduler_TP1`: the rank in its tensor-parallel group, which is the global
/// rank if there is no other group.  returns  -1: the name has none, or other groups too
int rank_in_process_name(std::string_view process);

/// A process that is no rank, by the name that the kernel gives it: a browser, a web server, a database.
bool is_other_program(std::string_view process);

}  // namespace ringside::job

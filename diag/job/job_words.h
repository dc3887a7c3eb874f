#pragma once

#include <string_view>

#include "diag/logparse/message.h"

/// Decides whether a text is from a multi-GPU job, because kernels, containers and servers use many of the same words.
namespace ringside::job {

/// Returns whether any program can print the message, such as the operating system's `Too many open files` or a
/// container's `OOMKilled`.
bool is_of_anybody(logs::MessageId id);

/// Returns whether a line is from the communication stack or a launcher, by its prefix or kind, or names a program of a
/// multi-GPU job: Python, a launcher, a GPU. A message of is_of_anybody() counts only if some line of the text passes.
bool is_of_job(const logs::Record& record);

/// Returns the tensor-parallel rank in a process name, 1 for `VLLM::Worker_TP1` or `sglang::scheduler_TP1`. It is the
/// global rank, because the function returns -1 for names with another group or without a rank.
int rank_in_process_name(std::string_view process);

/// Returns whether the kernel's name of a process shows that it is not a rank: a browser, a web server, a database.
bool is_other_program(std::string_view process);

}  // namespace ringside::job

#pragma once

#include <string_view>

#include "diag/logparse/message.h"

/// Whether a text is about a job of several GPUs at all: kernels, containers and servers use many of the same words.
namespace ringside::job {

/// Words of an operating system or a container that tell of any program: `Too many open files`, `OOMKilled`.
bool is_of_anybody(logs::MessageId id);

/// A line of the stack or its launchers, by its prefix or kind, or one that names a program of such a job: Python, a
/// launcher, a GPU. What is_of_anybody() counts only where it does, or where another line of the text does.
bool is_of_job(const logs::Record& record);

/// `1` of `VLLM::Worker_TP1`, `sglang::scheduler_TP1`: the rank of its tensor-parallel group, which is the job's where it
/// has no other.  returns  -1: the name has none, or other groups' too
int rank_in_process_name(std::string_view process);

/// A process that no rank is, by the name that the kernel gives it: a browser, a web server, a data base.
bool is_other_program(std::string_view process);

}  // namespace ringside::job

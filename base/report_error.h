#pragma once

#include "ringside/error.h"

/// Reports errors of a program of ringside on stderr.
namespace ringside {

/// Prints the error and its help. Control characters (from a file or an option) are printed as
/// \x1b.
void print_error(const Error& error);

/// For the catch (...) of main(): prints the current exception as an error. Such an exception is a bug of ringside,
/// because failures of the system are returned as Errors.
/// returns  the exit status of a run-time failure
int report_exception() noexcept;

/// From this call on, an exception that leaves a thread's function is also printed, and ends the process with the same
/// status instead of abort().
void report_exceptions_of_threads();

}  // namespace ringside

#pragma once

#include "ringside/error.h"

/// Reports errors of a program of ringside on stderr.
namespace ringside {

/// Prints the error and its help. Control characters (from a file or an option) are printed as
/// \x1b.
void print_error(const Error& error);

/// For the catch (...) of main(): prints the current exception as an error. An exception that gets that far
/// is a bug of ringside: a failure of the system is an Error where it happens.
/// returns  the exit status of a run-time failure
int report_exception() noexcept;

/// From now on an exception that leaves a thread's function is printed likewise and ends the process with that status,
/// instead of abort().
void report_exceptions_of_threads();

}  // namespace ringside

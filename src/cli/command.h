// A command of the program `graft`: what it is called, which options it takes, and the function that runs it.
//
// A command file has one function that makes its Command; commands.h declares it and main.cpp lists it.
// Options are declared here in our own words, so that only parse.cpp sees the argument library, which is
// expensive to compile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace graft::cli {

// What every command is given besides its own options.
struct Context {
  bool json = false;  // --json: print exactly one JSON document on stdout
};

// One option or positional argument. Exactly one of the targets is set.
struct Option {
  std::string name;  // "--name", "-o,--name", or "NAME" for a positional
  std::string help;
  bool* flag = nullptr;
  std::string* text = nullptr;
  int* number = nullptr;
  double* real = nullptr;
  std::vector<std::string>* list = nullptr;
  bool required = false;
  std::vector<std::string> choices = {};  // allowed values; empty: any
  // The range of `number` and `real`; NaN is never allowed.
  double minimum = -1e18;
  double maximum = 1e18;
};

struct Command {
  std::string name;     // "bench run": one or two words
  std::string summary;  // one line for `graft help`
  std::string details;  // more words for `graft help bench run`; may be empty
  std::vector<Option> options;
  // Returns the exit code of the table in docs/cli.md, or an Error, which main prints.
  std::function<Result<int>(const Context&)> run;
};

// Prints `document` with "schema" first, two spaces a level, and a final newline, to stdout.
void print_json(const Json& document);

// Parses the command line and runs the command. Returns the exit code of the process.
int run_program(int argc, char** argv, std::vector<Command> commands);

}  // namespace graft::cli

#include "cli/commands.h"

int main(int argc, char** argv) {
  using namespace graft::cli;
  return run_program(argc, argv, {
                                 });
}

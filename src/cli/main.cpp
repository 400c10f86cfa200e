#include "cli/commands.h"

int main(int argc, char** argv) {
  using namespace graft::cli;
  return run_program(argc, argv,
                     {
                         bench_run_command(),
                         bench_inputs_command(),
                         bench_score_command(),
                         bench_unpack_command(),
                         doctor_command(),
                         graph_capture_command(),
                         graph_match_command(),
                         graph_rewrite_command(),
                         graph_show_command(),
                         graph_stats_command(),
                         pass_check_command(),
                         python_parse_command(),
                         python_ast_command(),
                         python_hash_command(),
                     });
}

// One function a command file, each returning the Command it defines.
#pragma once

#include "cli/command.h"

namespace graft::cli {

Command bench_run_command();
Command bench_inputs_command();
Command bench_score_command();
Command bench_unpack_command();
Command doctor_command();
Command graph_capture_command();
Command graph_match_command();
Command graph_rewrite_command();
Command graph_show_command();
Command graph_stats_command();
Command pass_check_command();
Command python_parse_command();
Command python_ast_command();
Command python_hash_command();

}  // namespace graft::cli

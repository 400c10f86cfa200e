"""PassBench's command lines over Graft's engine, so that sample folders with their entry.sh run as they are.

    python -m pass_bench.torch.test_compiler --model-path-prefix SAMPLE --allow-list LIST --compiler pass_mgr --config BASE64
    python -m pass_bench.aggregate_es_scores --benchmark-path LOG --sample-id N --output-json-file-path FILE

Flags, log and score file are PassBench's; graphs are evaluated by `graft bench run` and scored by `graft bench score`. The
package needs nothing but the program `graft`: not torch, not the package graft.
"""

"""The flags of the programs that a run starts, as data: canonical name, then its other spellings.

Taken from the sources of ATOM (main, 2026), vLLM 0.33.0 and SGLang 0.5.23. Other releases differ, so a name that is
not here is only worth a warning: the real program is asked before it is started.
"""

from __future__ import annotations

__all__ = ["ATOM_CLIENT", "ATOM_SERVER", "SGLANG_CLIENT", "SGLANG_SERVER", "VLLM_CLIENT", "VLLM_SERVER"]

# python -m atom.entrypoints.openai_server: `port` is the engine's own, `server-port` serves HTTP
ATOM_SERVER = """
model served-model-name trust-remote-code tensor-parallel-size/-tp pipeline-parallel-size/-pp
prefill-context-parallel-size/-pcp data-parallel-size/-dp decode-context-parallel-size/-dcp enforce-eager
enable-prefix-caching port kv-cache-dtype index-cache-dtype block-size max-model-len cudagraph-capture-sizes level
cudagraph-mode load-dummy enable-expert-parallel fake-eplb torch-profiler-dir enable-dp-attention dp-load-balance
enable-tbo all2all-backend moe-backend method num-speculative-tokens draft-model spec-decode-acceptance-length
spec-decode-acceptance-rate max-num-batched-tokens long-prefill-token-threshold attn-prefill-chunk-size
state-checkpoint-interval-tokens enable-chunked-prefill max-num-seqs gpu-memory-utilization kv-transfer-config
scheduler-delay-factor mark-trace enable-rapidserve disagg-prefill-max-num-seqs disagg-constrained
online-quant-config hf-overrides dspark-config dcp-config eplb-enable/enable-eplb eplb-config host server-port
timeout-keep-alive disable-uvicorn-access-log chat-template default-chat-template-kwargs request-log
"""

# python -m atom.benchmarks.benchmark_serving
ATOM_CLIENT = """
backend base-url host port endpoint dataset-name dataset-path max-concurrency model tokenizer best-of
use-beam-search num-prompts logprobs request-rate burstiness seed trust-remote-code disable-tqdm profile
save-result save-detailed metadata result-dir result-filename ignore-eos percentile-metrics metric-percentiles
goodput sonnet-input-len sonnet-output-len sonnet-prefix-len sharegpt-output-len random-input-len
random-output-len random-range-ratio random-prefix-len use-chat-template hf-subset hf-split hf-output-len
tokenizer-mode served-model-name lora-modules num-warmups
"""

# vllm serve
VLLM_SERVER = """
additional-config aggregate-engine-logging all2all-backend allow-credentials allow-deprecated-quantization
allowed-headers allowed-local-media-path allowed-media-domains allowed-methods allowed-origins
anthropic-disabled-thinking-effort api-key api-server-count/-asc async-scheduling attention-backend
attention-config/-ac aux-output-config block-size chat-template chat-template-content-format code-revision
cohere-format cohere-is-reasoning-model collect-detailed-traces compilation-config/-cc config config-format
convert cp-kv-cache-interleave-size cpu-distributed-timeout-seconds cpu-offload-gb cpu-offload-params
cudagraph-capture-sizes cudagraph-metrics custom-histogram-buckets data-parallel-address/-dpa
data-parallel-backend/-dpb data-parallel-external-lb/-dpe data-parallel-hybrid-lb/-dph
data-parallel-multi-port-external-lb/-dpm data-parallel-rank/-dpn data-parallel-rpc-port/-dpp
data-parallel-size/-dp data-parallel-size-local/-dpl data-parallel-start-rank/-dpr data-parallel-supervisor-port
dbo-decode-token-threshold dbo-prefill-token-threshold dcp-comm-backend dcp-kv-cache-interleave-size
dcp-q-replicate decode-context-parallel-size/-dcp default-chat-template-kwargs default-mm-loras device-ids
diffusion-config/-dc disable-access-log-for-endpoints disable-cascade-attn disable-chunked-mm-input
disable-custom-all-reduce disable-fastapi-docs disable-hybrid-kv-cache-manager disable-log-stats
disable-nccl-for-dp-synchronization disable-sliding-window disable-uvicorn-access-log distributed-executor-backend
distributed-timeout-seconds download-dir dp-supervisor-probe-failure-threshold dp-supervisor-probe-interval-s
dp-supervisor-probe-timeout-s dp-sync-interval dtype ec-manager-config ec-transfer-config elastic-ep-max-dp-size
enable-auto-tool-choice enable-batch-sharded-sampling enable-chunked-prefill enable-cumem-allocator enable-dbo
enable-elastic-ep enable-ep-weight-filter enable-eplb enable-expert-parallel/-ep enable-fault-tolerance
enable-flash-late-interaction enable-flashinfer-autotune enable-force-include-usage enable-hc-sp
enable-layerwise-nvtx-tracing enable-log-deltas enable-log-outputs enable-log-requests
enable-logging-iteration-details enable-lora enable-mamba-cache-stochastic-rounding
enable-mamba-shared-prefix-checkpoint enable-mfu-metrics enable-mixed-moe-lora-format enable-mm-embeds
enable-moe-shared-loras enable-nccl-comm-suspend enable-offline-docs enable-per-request-metrics
enable-prefix-caching enable-prompt-embeds enable-prompt-tokens-details enable-request-id-headers
enable-return-routed-experts enable-scale-out enable-server-load-tracking enable-shm-tensor-arena
enable-sleep-mode enable-ssl-refresh enable-tokenizer-info-endpoint enable-tower-connector-lora
enable-trace-replay enforce-eager engram-config eplb-config exclude-tools-when-tool-choice-none
expert-placement-strategy fail-on-environ-validation fault-tolerance-config fingerprint-mode fingerprint-value
fully-sharded-loras gdn-prefill-backend generation-config gpu-memory-utilization/device-memory-utilization grpc
grpc-port h11-max-header-count h11-max-incomplete-event-size headless hf-config-path hf-overrides hf-token host
ignore-patterns interleave-mm-strings io-processor-plugin ir-op-priority jit-monitor-mode jit-monitor-verbose
kda-decode-backend kda-prefill-backend kernel-config kv-cache-dtype kv-cache-dtype-skip-layers
kv-cache-memory-bytes kv-cache-metrics kv-cache-metrics-sample kv-events-config kv-offloading-backend
kv-offloading-size kv-sharing-fast-prefill kv-transfer-config language-model-only limit-mm-per-prompt
linear-backend load-format log-config-file log-error-stack log-level logging-config logits-processors
logprobs-mode long-prefill-token-threshold long-prefill-token-threshold-adaptive lora-dtype lora-modules
lora-target-modules mamba-backend mamba-block-size mamba-cache-dtype mamba-cache-mode mamba-cache-philox-rounds
mamba-ssm-cache-dtype mamba-ssu-algorithm master-addr master-port max-cpu-loras max-cudagraph-capture-size
max-log-len max-logprobs max-lora-cls-labels max-lora-rank max-loras max-model-len max-num-active-seqs
max-num-batched-tokens max-num-queued-reqs max-num-queued-tokens max-num-scheduled-tokens max-num-seqs
max-parallel-loading-workers media-io-kwargs middleware mm-device-do-normalize mm-encoder-attn-backend
mm-encoder-attn-dtype mm-encoder-fp8-scale-path mm-encoder-fp8-scale-save-margin mm-encoder-fp8-scale-save-path
mm-encoder-only mm-encoder-tp-mode mm-hasher-algorithm mm-ipc-gpu-memory-gb mm-processor-cache-gb
mm-processor-cache-type mm-processor-device mm-processor-kwargs mm-shm-cache-max-object-size-mb mm-tensor-ipc
model model-class-overrides model-impl model-loader-extra-config moe-backend monokernel nnodes/-n node-rank/-r
num-gpu-blocks-override numa-bind numa-bind-cpus numa-bind-nodes offload-backend offload-group-size
offload-num-in-group offload-params offload-prefetch-step optimization-level/-O otlp-traces-endpoint
override-generation-config per-request-spec-decode-metrics performance-mode pipeline-parallel-size/-pp
pooler-config port prefill-context-parallel-size/-pcp prefill-schedule-interval prefix-cache-retention-interval
prefix-caching-hash-algo prefix-match-unit profiler-config pt-load-map-location quantization/-q
quantization-config ray-workers-use-nsight reasoning-config reasoning-effort-map reasoning-parser
reasoning-parser-plugin renderer-num-workers replayssm-buffer-len response-role return-sampling-mask
return-tokens-as-token-ids revision root-path runner safetensors-load-strategy safetensors-prefetch-block-size
safetensors-prefetch-num-threads scheduler-cls scheduler-reserve-full-isl scheduling-policy seed served-model-name
show-hidden-metrics-for-version shutdown-timeout skip-mm-profiling skip-tokenizer-init sleep-mode-backend
sleep-mode-offload-cudagraph sleep-preserve-parameter-names sparse-indexer-topk-backend spec-method spec-model
spec-tokens specialize-active-lora speculative-config/-sc sse-keep-alive-interval ssl-ca-certs ssl-cert-reqs
ssl-certfile ssl-ciphers ssl-keyfile stream-interval structured-outputs-config swa-bounded-replay
tensor-parallel-size/-tp tokenizer tokenizer-mode tokenizer-revision tokens-only tool-call-parser
tool-parser-plugin tool-server tool-strict-level trust-remote-code trust-request-chat-template
trust-request-mm-kwargs ubatch-size uds use-fp64-gumbel use-replayssm use-tqdm-on-load uvicorn-log-level
video-pruning-method video-pruning-rate watchdog-config watermark watermark-config weight-transfer-config
worker-cls worker-extension-cls
"""

# vllm bench serve
VLLM_CLIENT = """
append-result asr-max-audio-len-sec asr-min-audio-len-sec backend base-url bfcl-categories blazedit-max-distance
blazedit-min-distance burstiness chat-template-kwargs custom-ensure-client-side-data custom-output-len
dataset-name dataset-path disable-shuffle disable-tqdm enable-multimodal-chat endpoint extra-body
frequency-penalty goodput header hf-name hf-output-len hf-split hf-subset host ignore-eos input-len insecure label
logprobs lora-assignment lora-modules max-concurrency metadata metric-percentiles min-p model no-oversample
no-reranker no-stream num-prompts num-warmups output-len percentile-metrics plot-dataset-stats plot-timeline port
prefix-repetition-num-prefixes prefix-repetition-output-len prefix-repetition-prefix-len
prefix-repetition-suffix-len presence-penalty probe-request-rate profile ramp-up-end-rps ramp-up-start-rps
ramp-up-strategy random-batch-size random-input-len random-mm-base-items-per-request random-mm-bucket-config
random-mm-limit-mm-per-prompt random-mm-num-mm-items-range-ratio random-output-len random-prefix-len
random-range-ratio ready-check-timeout-sec repetition-penalty request-id-prefix request-rate result-dir
result-filename save-detailed save-result seed self-timed served-model-name sharegpt-output-len skip-chat-template
skip-tokenizer-init spec-bench-category spec-bench-output-len speed-bench-category speed-bench-dataset-subset
speed-bench-output-len temperature timed-trace-chunk-hash-size timed-trace-label-hash-ids
timed-trace-label-input-length timed-trace-label-output-length timed-trace-label-timestamp
timed-trace-sec-multiplier timeline-itl-thresholds tokenizer tokenizer-mode top-k top-p trust-remote-code
use-beam-search
"""

# python3 -m sglang.launch_server
SGLANG_SERVER = """
abort-on-priority-when-disabled admin-api-key allow-auto-truncate allowed-media-domains api-key
asr-max-buffer-seconds asr-max-concurrent-sessions attention-backend attn-cp-size/attention-context-parallel-size
attn-dp-size/attention-data-parallel-size aux-hidden-state-capture base-gpu-id batch-notify-size bf16-gemm-backend
boundary-reduction bucket-e2e-request-latency bucket-inter-token-latency bucket-time-to-first-token c128-page-size
chat-template checkpoint-engine-wait-weights-before-ready chunked-prefill-size completion-template
constrained-json-disable-any-whitespace constrained-json-max-whitespace-cnt constrained-json-whitespace-pattern
context-bucket context-length cp-strategy cpu-offload-gb crash-dump-folder cuda-graph-backend-decode
cuda-graph-backend-prefill cuda-graph-bs-decode cuda-graph-bs-prefill cuda-graph-config cuda-graph-max-bs-decode
cuda-graph-max-bs-prefill cuda-graph-max-seq-len-prefill cuda-graph-prefill-max-context custom-sigquit-handler
custom-weight-loader dcp-comm-backend dcp-replicate-q-proj dcp-size/decode-context-parallel-size debug-cuda-graph
debug-tensor-dump-input-file debug-tensor-dump-layers debug-tensor-dump-output-folder decode-attention-backend
decode-log-interval decoupled-spec-bind-endpoint decoupled-spec-connect-endpoints decoupled-spec-rank
decoupled-spec-role decrypted-config-file decrypted-draft-config-file deepep-config deepep-dispatcher-output-dtype
deepep-mode deepep-v2-mode default-chat-template-kwargs default-priority-value delete-ckpt-after-loading
detokenizer-worker-num device disable-aiter-allreduce-fusion-in-decode disable-aiter-allreduce-fusion-in-prefill
disable-attn-tp-gather disable-chunked-prefix-cache disable-cuda-graph disable-cuda-graph-padding
disable-custom-all-reduce disable-decode-cuda-graph disable-fast-image-processor disable-flashinfer-autotune
disable-flashinfer-cutlass-moe-fp4-allgather disable-hybrid-swa-memory disable-outlines-disk-cache
disable-overlap-schedule disable-prefill-cuda-graph disable-priority-preemption disable-radix-cache
disable-shared-experts-fusion disable-tokenizer-batch-decode disaggregation-bootstrap-port
disaggregation-decode-allocation-policy disaggregation-decode-enable-offload-kvcache
disaggregation-decode-enable-radix-cache disaggregation-decode-extra-slots
disaggregation-decode-host-receive-threshold disaggregation-decode-polling-interval
disaggregation-decode-retraction-backup disaggregation-enable-kv-checksum disaggregation-ib-device
disaggregation-mode disaggregation-transfer-backend dist-init-addr/nccl-init-addr dist-timeout dllm-algorithm
dllm-algorithm-config dllm-fdfo download-dir dp-size/data-parallel-size/dp dsa-decode-backend
dsa-paged-mqa-logits-backend dsa-prefill-backend dsa-topk-backend dsa-triton-union dsv4-attn-backend
dsv4-prefill-backend dtype dwdp-size dynamic-batch-tokenizer-batch-size dynamic-batch-tokenizer-batch-timeout
elastic-ep-backend elastic-ep-initial-size elastic-ep-join-mode elastic-ep-join-rank-offset
elastic-ep-scale-timeout enable-adaptive-dispatch-to-encoder enable-aiter-allreduce-fusion enable-amd-monokernel
enable-attn-tp-input-scattered enable-broadcast-mm-inputs-process enable-cache-report enable-cp-decode-attn-tp
enable-cp-tp-group-sharing enable-cudagraph-gc enable-custom-logit-processor enable-decoder-swa-bounded-replay
enable-deepseek-v4-fp4-indexer enable-dense-mlp-attn-tp enable-deterministic-inference enable-dp-attention
enable-dp-attention-local-control-broadcast enable-dp-lm-head enable-draft-weights-cpu-backup
enable-dsa-cache-layer-split enable-dsa-fused-indexer enable-dynamic-batch-tokenizer enable-dynamic-chunking
enable-elastic-expert-backup enable-encoder-swa-bounded-replay enable-eplb enable-flashinfer-allreduce-fusion
enable-flexkv enable-forward-pass-metrics enable-fp32-lm-head enable-fused-moe-sum-all-reduce
enable-fused-qk-norm-rope enable-hicache enable-hierarchical-cache enable-hisparse enable-http-worker-reuseport
enable-http2 enable-int8-mamba-checkpoint enable-kv-cache-sharding enable-layernorm-sp
enable-layerwise-nvtx-marker enable-lean-attention enable-linear-replayssm enable-linear-replayssm-spec
enable-linker-mla-dedup enable-lmcache enable-lora enable-lora-overlap-loading
enable-mamba-cache-stochastic-rounding enable-megamoe-for-layernorm-sp enable-memory-saver enable-metrics
enable-metrics-for-all-schedulers enable-mfu-metrics enable-mis enable-mixed-chunk enable-mm-global-cache
enable-mscclpp enable-multi-layer-eagle enable-multimodal enable-nccl-nvls enable-nvidia-megakernel
enable-p2p-check enable-page-major-kv-layout enable-paged-experts enable-pd-role-switch enable-pdmux
enable-precise-embedding-interpolation enable-prefill-cp enable-prefill-delayer enable-prefix-mm-cache
enable-priority-scheduling enable-profile-cuda-graph enable-quant-communications enable-request-time-stats-logging
enable-response-store enable-return-aux-hidden-states enable-return-hidden-states enable-return-indexer-topk
enable-return-routed-experts enable-scattered-sconv enable-session-radix-cache enable-shared-experts-attn-tp
enable-single-batch-overlap enable-ssl-refresh enable-streaming-session enable-strict-thinking enable-symm-mem
enable-tf32-matmul enable-tokenizer-batch-encode enable-torch-compile enable-torch-compile-debug-mode
enable-torch-symm-mem enable-tp-lm-head-all-to-all enable-trace enable-two-batch-overlap
enable-unified-cache-external-linker enable-unified-memory enable-w4a4-mxfp4-megamoe enable-waterfill
enable-watermark enable-weights-cpu-backup encoder-bootstrap-port encoder-only encoder-register-urls
encoder-transfer-backend encoder-urls enforce-disable-flashinfer-allreduce-fusion enforce-shared-experts-fusion
engine-info-bootstrap-port ep-dispatch-algorithm ep-join-mode ep-join-rank-offset ep-num-redundant-experts
ep-size/expert-parallel-size/ep eplb-algorithm eplb-min-rebalancing-utilization-threshold
eplb-rebalance-layers-per-chunk eplb-rebalance-num-iterations expert-balancedness-report-mode
expert-distribution-recorder-buffer-size expert-distribution-recorder-mode experts-shared-outer-loras
export-metrics-to-file export-metrics-to-file-dir extra-metric-labels fastapi-root-path file-storage-path
flashinfer-a2a-dispatch-type flashinfer-allreduce-fusion-backend flashinfer-autotune-skip-ops
flashinfer-mla-disable-ragged flashinfer-mxfp4-moe-precision flexkv-config-file forward-hooks
forward-pass-metrics-ipc-name forward-pass-metrics-worker-id fp4-gemm-runner-backend/fp4-gemm-backend
fp8-gemm-runner-backend/fp8-gemm-backend fuseep-mode gated-launch-port gc-threshold gc-warning-threshold-secs
generation-tokens-buckets gpu-id-step grammar-backend grpc-http-sidecar-port grpc-mode grpc-port
grpc-response-timeout-secs grpc-worker-threads hf-chat-template-name hicache-host-memory-fraction
hicache-host-memory-mode hicache-io-backend hicache-mem-layout hicache-ratio hicache-size hicache-storage-backend
hicache-storage-backend-extra-config hicache-storage-prefetch-policy hicache-storage-prefetch-retry-max-attempts
hicache-storage-prefetch-retry-poll-interval hicache-write-policy
hisparse-config/hierarchical-sparse-attention-extra-config host http2-initial-connection-window-size
http2-max-concurrent-streams image-processor-backend incremental-streaming-output init-expert-location
int8-mamba-ckpt-size is-embedding json-model-override-args kt-cpuinfer kt-max-deferred-experts-per-token kt-method
kt-num-gpu-experts kt-threadpool-count kt-weight-path kv-cache-dtype kv-canary kv-canary-real-data
kv-canary-sweep-interval kv-events-config language-model-only language-only limit-mm-data-per-request
linear-attn-backend linear-attn-decode-backend linear-attn-prefill-backend linear-attn-verify-backend
linear-replayssm-cache-len lmcache-config-file load-balance-method load-format load-publish-endpoint
load-snapshot-publish-interval log-level log-level-http log-requests log-requests-format log-requests-level
log-requests-target lora-backend lora-drain-wait-threshold lora-eviction-policy lora-paths lora-strict-loading
lora-target-modules lora-use-virtual-experts mamba-backend mamba-cache-philox-rounds mamba-full-memory-ratio
mamba-max-states-per-path mamba-radix-cache-strategy mamba-ssm-dtype mamba-track-interval max-ep-size
max-loaded-loras max-lora-chunk-size max-lora-rank max-loras-per-batch max-mamba-cache-size max-prefill-tokens
max-queued-requests max-running-requests max-total-tokens media-url-max-file-size-mb mem-fraction-static
min-free-slots-delay mlx-enable-sampling mm-attention-backend mm-enable-dp-encoder mm-feature-transport
mm-global-cache-backend mm-io-worker-num mm-preprocess-cache-size-mb mm-process-config mm-processor-worker-num
model-checksum model-config-parser model-impl model-loader-extra-config model-path/model modelexpress-config
modelopt-checkpoint-restore-path modelopt-checkpoint-save-path modelopt-export-path modelopt-quant moe-a2a-backend
moe-dense-tp-size moe-dp-size/moe-data-parallel-size moe-runner-backend mooncake-ib-device msprobe-dump-config
nccl-port nnodes node-rank num-continuous-decode-steps num-reserved-decode-tokens numa-node offload-group-size
offload-mode offload-num-in-group offload-prefetch-step optimistic-prefill-attempts otlp-service-name
otlp-traces-endpoint page-size paged-experts-num-resident pdmux-config-path ple-offload-backend ple-offload-dir
ple-offload-embedding port pp-async-batch-depth pp-max-micro-batch-size pp-size/pipeline-parallel-size/pp
pre-warm-nccl preferred-sampling-params prefill-attention-backend prefill-decode-interval
prefill-decode-interval-min-bs prefill-delayer-forward-passes-buckets prefill-delayer-max-delay-ms
prefill-delayer-max-delay-passes prefill-delayer-queue-min-ratio prefill-delayer-token-usage-low-watermark
prefill-delayer-wait-seconds-buckets prefill-kv-cache-dequant-dtype prefill-max-requests
prefill-only-disable-kv-cache priority-scheduling-preemption-threshold prompt-tokens-buckets qsa-indexer-dtype
quantization quantization-param-path quantize-and-serve radix-cache-backend radix-eviction-policy
radix-eviction-policy-config random-seed reasoning-parser remote-instance-weight-loader-backend
remote-instance-weight-loader-seed-instance-ip remote-instance-weight-loader-seed-instance-service-port
remote-instance-weight-loader-send-weights-group-ports
remote-instance-weight-loader-start-seed-via-transfer-engine retraction-policy return-aux-hidden-state-layer-ids
return-hidden-states-mode return-input-ids return-output-ids revision rl-on-policy-target rl-quant-profile
sampling-backend sampling-defaults sampling-mask-max-tokens schedule-conservativeness
schedule-low-priority-values-first schedule-policy scheduler-recv-interval served-model-name
shared-experts-tp-size show-time-cost sidecar sidecar-args skip-server-warmup skip-tokenizer-init sleep-on-idle
sm-group-num smg-grpc-mode smg-http-sidecar-port soft-watchdog-timeout spec-trace-dir
speculative-accept-threshold-acc speculative-accept-threshold-single speculative-adaptive
speculative-adaptive-config speculative-algorithm speculative-attention-mode speculative-boundary-reduction
speculative-dflash-block-size speculative-domino-candidate-pool-size speculative-draft-attention-backend
speculative-draft-kv-cache-dtype speculative-draft-load-format
speculative-draft-model-path/speculative-draft-model speculative-draft-model-quantization
speculative-draft-model-revision speculative-draft-sink-size speculative-draft-window-size
speculative-dsa-topk-backend speculative-dspark-align-verify-tokens-to-graph-tier speculative-dspark-block-size
speculative-dspark-confidence-sts-path speculative-dspark-sps-table-path speculative-eagle-topk
speculative-enable-w4a4-mxfp4-megamoe speculative-moe-a2a-backend speculative-moe-runner-backend
speculative-ngram-capacity speculative-ngram-external-corpus-max-tokens speculative-ngram-external-corpus-path
speculative-ngram-external-sam-budget speculative-ngram-match-type speculative-ngram-max-bfs-breadth
speculative-ngram-max-trie-depth speculative-ngram-min-bfs-breadth speculative-num-draft-tokens
speculative-num-steps speculative-token-map speculative-use-block-verification speculative-use-rejection-sampling
ssl-ca-certs ssl-certfile ssl-keyfile ssl-keyfile-password startup-weight-load-mode stat-loggers stream-interval
stream-response-default-include-usage strip-thinking-cache swa-full-tokens-ratio swa-prefix-tails
tbo-token-distribution-threshold tokenizer-backend tokenizer-metrics-allowed-custom-labels
tokenizer-metrics-custom-labels-header tokenizer-mode tokenizer-path tokenizer-worker-num tool-call-parser
tool-server torch-compile-max-bs tp-size/tensor-parallel-size/tp trace-modules triton-attention-num-kv-splits
triton-attention-reduce-in-fp32 triton-attention-split-tile-size trust-mm-content-hashes trust-remote-code
trust-request-chat-template unified-cache-external-linker-backend unified-cache-external-linker-config
uno-lora-path use-ray uses-mamba-radix-cache uvicorn-access-log-exclude-prefixes warmups watchdog-timeout
watermark-config watermark-context-window watermark-default-enabled watermark-enforce-all watermark-key
watermark-key-b watermark-max-probability watermark-mixing-probability weight-cache-mode weight-cache-socket
weight-cache-timeout weight-loader-disable-mmap weight-loader-drop-cache-after-load
weight-loader-prefetch-checkpoints weight-loader-prefetch-num-threads weight-version
"""

# python3 -m sglang.bench_serving
SGLANG_CLIENT = """
backend base-url host port ready-check-timeout-sec dataset-name dataset-path dataset-offset agentic-max-turns
speed-bench-category speed-bench-output-len model served-model-name tokenizer num-prompts sharegpt-output-len
sharegpt-context-len random-input-len random-output-len random-range-ratio image-count image-resolution
random-image-count image-format image-content request-rate use-trace-timestamps max-concurrency output-file
output-details goodput print-requests disable-tqdm disable-stream return-logprob top-logprobs-num
token-ids-logprob logprob-start-len return-routed-experts cache-report seed disable-ignore-eos temperature top-p
extra-request-body apply-chat-template profile plot-throughput profile-activities profile-start-step profile-steps
profile-num-steps profile-by-stage profile-stages profile-output-dir profile-prefix lora-name
lora-request-distribution lora-zipf-alpha prompt-suffix pd-separated profile-prefill-url profile-decode-url
flush-cache flush-cache-timeout warmup-requests tokenize-prompt gsp-num-groups gsp-prompts-per-group
gsp-system-prompt-len gsp-question-len gsp-output-len gsp-range-ratio gsp-fast-prepare gsp-send-routing-key
gsp-num-turns gsp-ordered gsp-group-distribution gsp-zipf-alpha mooncake-slowdown-factor mooncake-num-rounds
mooncake-workload fake-prefill tag header rust-client rust-worker-threads
"""

"""vLLM's `serve` command line, version 0.33. Boolean flags have `--no-` and `--disable-` forms, and `_` may stand
for `-` in every long flag."""

from __future__ import annotations

from standin.flags import Flag, choices, values

__all__ = ["SERVE"]

_SWITCHES = """
--aggregate-engine-logging --data-parallel-multi-port-external-lb|-dpm --disable-log-stats --grpc
"""
_PAIRED = """
--allow-credentials --allow-deprecated-quantization --async-scheduling --cohere-is-reasoning-model
--cudagraph-metrics --data-parallel-external-lb|-dpe --data-parallel-hybrid-lb|-dph --dcp-q-replicate
--disable-cascade-attn --disable-chunked-mm-input --disable-custom-all-reduce --disable-fastapi-docs
--disable-hybrid-kv-cache-manager --disable-nccl-for-dp-synchronization --disable-sliding-window
--enable-auto-tool-choice --enable-batch-sharded-sampling --enable-chunked-prefill --enable-cumem-allocator
--enable-dbo --enable-elastic-ep --enable-ep-weight-filter --enable-eplb --enable-expert-parallel|-ep
--enable-fault-tolerance --enable-flash-late-interaction --enable-flashinfer-autotune --enable-hc-sp
--enable-layerwise-nvtx-tracing --enable-log-deltas --enable-log-outputs --enable-log-requests
--enable-logging-iteration-details --enable-lora --enable-mamba-cache-stochastic-rounding
--enable-mamba-shared-prefix-checkpoint --enable-mfu-metrics --enable-mixed-moe-lora-format --enable-mm-embeds
--enable-moe-shared-loras --enable-nccl-comm-suspend --enable-offline-docs --enable-per-request-metrics
--enable-prefix-caching --enable-prompt-embeds --enable-prompt-tokens-details --enable-request-id-headers
--enable-return-routed-experts --enable-scale-out --enable-server-load-tracking --enable-shm-tensor-arena
--enable-sleep-mode --enable-ssl-refresh --enable-tokenizer-info-endpoint --enable-tower-connector-lora
--enable-trace-replay --enforce-eager --exclude-tools-when-tool-choice-none --fail-on-environ-validation
--fully-sharded-loras --interleave-mm-strings --jit-monitor-verbose --kv-cache-metrics --kv-sharing-fast-prefill
--language-model-only --log-error-stack --long-prefill-token-threshold-adaptive --mm-device-do-normalize
--mm-encoder-only --monokernel --numa-bind --ray-workers-use-nsight --return-sampling-mask
--return-tokens-as-token-ids --scheduler-reserve-full-isl --skip-mm-profiling --skip-tokenizer-init
--sleep-mode-offload-cudagraph --specialize-active-lora --swa-bounded-replay --tokens-only --trust-remote-code
--trust-request-chat-template --trust-request-mm-kwargs --use-fp64-gumbel --use-replayssm --use-tqdm-on-load
"""
_INTS = """
--api-server-count|-asc --block-size --cp-kv-cache-interleave-size --cpu-distributed-timeout-seconds
--data-parallel-rank|-dpn --data-parallel-rpc-port|-dpp --data-parallel-size-local|-dpl
--data-parallel-start-rank|-dpr --data-parallel-supervisor-port --dbo-decode-token-threshold
--dbo-prefill-token-threshold --dcp-kv-cache-interleave-size --decode-context-parallel-size|-dcp
--distributed-timeout-seconds --dp-supervisor-probe-failure-threshold --dp-sync-interval
--elastic-ep-max-dp-size --grpc-port --h11-max-header-count --h11-max-incomplete-event-size
--long-prefill-token-threshold --mamba-block-size --mamba-cache-philox-rounds --max-cpu-loras
--max-cudagraph-capture-size --max-log-len --max-logprobs --max-lora-cls-labels --max-lora-rank --max-loras
--max-num-active-seqs --max-num-queued-reqs --max-parallel-loading-workers --mm-shm-cache-max-object-size-mb
--num-gpu-blocks-override --offload-group-size --offload-num-in-group --offload-prefetch-step
--prefill-context-parallel-size|-pcp --prefill-schedule-interval --prefix-cache-retention-interval
--prefix-match-unit --renderer-num-workers --replayssm-buffer-len --safetensors-prefetch-num-threads --seed
--shutdown-timeout --spec-tokens --sse-keep-alive-interval --ssl-cert-reqs --stream-interval --ubatch-size
"""
_SIZES = """
--kv-cache-memory-bytes --max-num-batched-tokens --max-num-queued-tokens --max-num-scheduled-tokens
--safetensors-prefetch-block-size
"""
_FLOATS = """
--cpu-offload-gb --dp-supervisor-probe-interval-s --dp-supervisor-probe-timeout-s
--gpu-memory-utilization|--device-memory-utilization --kv-cache-metrics-sample --kv-offloading-size
--mm-encoder-fp8-scale-save-margin --mm-ipc-gpu-memory-gb --mm-processor-cache-gb --video-pruning-rate
--watermark
"""
_TEXTS = """
--additional-config --allowed-local-media-path --anthropic-disabled-thinking-effort --attention-backend
--chat-template --chat-template-content-format --code-revision --cohere-format --config --config-format
--data-parallel-address|-dpa --data-parallel-backend|-dpb --device-ids --disable-access-log-for-endpoints
--distributed-executor-backend --download-dir --fingerprint-value --generation-config --hf-config-path
--hf-overrides --io-processor-plugin --kv-cache-dtype --linear-backend --load-format --log-config-file
--log-level --mamba-backend --mamba-cache-mode --mm-encoder-attn-backend --mm-encoder-fp8-scale-path
--mm-encoder-fp8-scale-save-path --mm-processor-device --model-impl --moe-backend --optimization-level
--otlp-traces-endpoint --pt-load-map-location --quantization|-q --reasoning-parser --reasoning-parser-plugin
--response-role --revision --root-path --scheduler-cls --show-hidden-metrics-for-version --sleep-mode-backend
--sparse-indexer-topk-backend --spec-model --ssl-ca-certs --ssl-certfile --ssl-ciphers --ssl-keyfile --tokenizer
--tokenizer-mode --tokenizer-revision --tool-call-parser --tool-parser-plugin --tool-server --tool-strict-level
--uds --worker-cls --worker-extension-cls
"""
_LISTS = """
--allowed-media-domains --api-key --collect-detailed-traces --cpu-offload-params --ignore-patterns
--kv-cache-dtype-skip-layers --logits-processors --lora-modules --lora-target-modules --numa-bind-cpus
--offload-params --sleep-preserve-parameter-names
"""
_INT_LISTS = """
--cudagraph-capture-sizes --numa-bind-nodes
"""
_JSON = """
--allowed-headers --allowed-methods --allowed-origins --attention-config|-ac --aux-output-config
--compilation-config|-cc --custom-histogram-buckets --default-chat-template-kwargs --default-mm-loras
--diffusion-config|-dc --ec-manager-config --ec-transfer-config --engram-config --eplb-config
--fault-tolerance-config --ir-op-priority --kernel-config --kv-events-config --kv-transfer-config
--limit-mm-per-prompt --logging-config --media-io-kwargs --mm-processor-kwargs --model-class-overrides
--model-loader-extra-config --override-generation-config --pooler-config --profiler-config --quantization-config
--reasoning-config --reasoning-effort-map --structured-outputs-config --watchdog-config --watermark-config
--weight-transfer-config
"""
_CHOICES = """
--all2all-backend=allgather_reducescatter,deepep_high_throughput,deepep_low_latency,deepep_v2,flashinfer_all2allv,flashinfer_nvlink_one_sided,flashinfer_nvlink_two_sided,moonep,mori_high_throughput,mori_low_latency,naive,nixl_ep,passthrough,pplx
--convert=auto,classify,embed,none --dcp-comm-backend=a2a,ag_rs --dtype=auto,bfloat16,float,float16,float32,half
--expert-placement-strategy=linear,round_robin --fingerprint-mode=custom,full,hash,none
--gdn-prefill-backend=flashinfer,triton,cutedsl,aiter_flydsl,sycl --jit-monitor-mode=error,warn
--kda-decode-backend=auto,native,flashinfer,triton --kda-prefill-backend=auto,triton,flashkda,flashinfer,fused
--kv-offloading-backend=lmcache,native
--logprobs-mode=processed_logits,processed_logprobs,raw_logits,raw_logprobs --lora-dtype=auto,bfloat16,float16
--mamba-cache-dtype=auto,bfloat16,float16,float32 --mamba-ssm-cache-dtype=auto,bfloat16,float16,float32
--mamba-ssu-algorithm=auto,horizontal,simple,vertical --mm-encoder-attn-dtype=fp8
--mm-encoder-tp-mode=data,weights --mm-hasher-algorithm=blake3,sha256,sha512 --mm-processor-cache-type=lru,shm
--mm-tensor-ipc=direct_rpc,torch_shm --offload-backend=auto,prefetch,uva
--per-request-spec-decode-metrics=detailed,none,summary --performance-mode=balanced,interactivity,throughput
--prefix-caching-hash-algo=sha256,sha256_cbor,xxhash,xxhash_cbor --runner=auto,draft,generate,pooling
--safetensors-load-strategy=eager,lazy,prefetch,torchao --scheduling-policy=fcfs,priority
--spec-method=bailing_hybrid_mtp,bailing_hybrid_v3_mtp,custom_class,deepseek_mtp,dflash,dots3_note_mtp,draft_model,dspark,eagle,eagle3,ernie_mtp,exaone4_5_mtp,exaone_moe_mtp,extract_hidden_states,gemma4_mtp,glm4_moe_lite_mtp,glm4_moe_mtp,glm5_next_mtp,glm_ocr_mtp,hy_v3_mtp,hy_v4_mtp,inkling_mtp,kimi_k3_mtp,longcat_flash_mtp,mimo_mtp,mimo_v2_mtp,minimax_m3_mtp,mtp,nemotron_h_mtp,ngram,ngram_gpu,pangu_ultra_moe_mtp,qwen3_5_mtp,qwen3_next_mtp,qwen4_exp_mtp,step3p5_mtp,step5_mtp,suffix
--uvicorn-log-level=critical,debug,error,info,trace,warning --video-pruning-method=evs,vidcom2
"""

SERVE = (
    Flag("--host"),
    Flag("--port", "int", 8000),
    Flag("--model"),
    Flag("--served-model-name", "texts"),
    Flag("--max-model-len", "size"),
    Flag("--max-num-seqs", "int", 256),
    Flag("--tensor-parallel-size -tp", "int", 1),
    Flag("--pipeline-parallel-size -pp", "int", 1),
    Flag("--data-parallel-size -dp", "int", 1),
    Flag("--nnodes -n", "int", 1),
    Flag("--node-rank -r", "int", 0),
    Flag("--master-addr", "text", "127.0.0.1"),
    Flag("--master-port", "int", 29501),
    Flag("--headless", "switch"),
    Flag("--speculative-config -sc", "json"),
    Flag("--enable-force-include-usage", "paired", False),
    Flag("--disable-uvicorn-access-log", "paired", False),
    Flag("--middleware", "append"),
    Flag("--hf-token", "maybe"),
    *values("switch", _SWITCHES),
    *values("paired", _PAIRED),
    *values("int", _INTS),
    *values("size", _SIZES),
    *values("float", _FLOATS),
    *values("text", _TEXTS),
    *values("texts", _LISTS),
    *values("ints", _INT_LISTS),
    *values("json", _JSON),
    *choices(_CHOICES),
)

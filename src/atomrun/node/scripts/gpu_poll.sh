# Samples the GPUs until it is stopped or its time is up: lines `@ UPTIME TOOL`, then what the tool says.
#   INTERVAL_S SECONDS LIMIT_BYTES      exit 3: no tool
set -u
interval=$1 until=$2 limit=$3
if command -v amd-smi >/dev/null; then
  tool='amd-smi metric --usage --power --mem-usage --json'
elif command -v rocm-smi >/dev/null; then
  tool='rocm-smi --showuse --showmemuse --showpower --showmeminfo vram --json'
else
  exit 3
fi
read -r now _ </proc/uptime
end=$((${now%.*} + until))
written=0
while [ "${now%.*}" -lt "$end" ] && [ "$written" -lt "$limit" ]; do
  said=$($tool 2>/dev/null | tr -s ' \n' ' ')
  printf '@ %s %s\n%s\n' "$now" "${tool%% *}" "$said"
  written=$((written + ${#said}))
  sleep "$interval"
  read -r now _ </proc/uptime
done

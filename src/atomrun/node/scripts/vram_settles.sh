# Waits until the GPUs' memory in use is at most LIMIT bytes, or SECONDS have passed; prints `vram BYTES`.
set -u
limit=$1 turns=$2
while :; do
  used=$(cat /sys/class/drm/card*/device/mem_info_vram_used 2>/dev/null | awk '{ sum += $1 } END { printf "%.0f", sum }')
  if [ "$used" -le "$limit" ] || [ "$turns" -le 0 ]; then
    break
  fi
  sleep 1
  turns=$((turns - 1))
done
echo "vram $used"

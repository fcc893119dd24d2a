# What happens on this node: lines `bytes N` of the jobs' logs, `busy N` the activity of the busiest GPU in percent.
#   JOBS_DIR JOB...
set -u
jobs=$1
shift
total=0
for job; do
  for log in "$jobs/$job/out" "$jobs/$job/err"; do
    [ -f "$log" ] && total=$((total + $(wc -c <"$log")))
  done
done
printf 'bytes %d\n' "$total"
set -- /sys/class/drm/card*/device/gpu_busy_percent
[ -r "$1" ] && printf 'busy %d\n' "$(cat "$@" | sort -n | tail -n 1)"
exit 0

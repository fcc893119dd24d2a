# The fabric of this host: lines `hca NAME` as the kernel lists them, then `netdev NAME`.
#   ADDRESS (this node's cluster address) MASTER (the head's)
set -u
address=$1 master=$2
if listed=$(ibv_devinfo -l 2>/dev/null); then
  printf '%s\n' "$listed" | awk 'NR > 1 && NF == 1 { print "hca", $1 }'
elif [ -d /sys/class/infiniband ]; then
  for device in /sys/class/infiniband/*; do
    [ -e "$device" ] && echo "hca ${device##*/}"
  done
fi
owner=$(ip -o -4 addr show 2>/dev/null | awk -v want="$address" '{ split($4, part, "/"); if (part[1] == want) { print $2; exit } }')
if [ -z "$owner" ]; then
  owner=$(ip -o -4 route get "$master" 2>/dev/null | awk '{ for (i = 1; i < NF; i++) if ($i == "dev") { print $(i + 1); exit } }')
fi
[ -n "$owner" ] && echo "netdev $owner"
exit 0

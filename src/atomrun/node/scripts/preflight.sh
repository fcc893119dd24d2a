# What a node must have before anything starts there. Prints KEY<TAB>VALUE lines; makes RUN_DIR and nothing else.
#   RUNTIME ("" for none) IMAGE RUN_DIR PORTS (words) PATH...: paths that must exist
set -u
runtime=$1 image=$2 run_dir=$3 ports=$4
shift 4
tell() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n\t' '  ')"; }

if [ -n "$runtime" ]; then
  if why=$("$runtime" ps -q 2>&1 >/dev/null); then
    tell runtime "$runtime"
  elif also=$(sudo -n "$runtime" ps -q 2>&1 >/dev/null); then
    tell runtime "sudo -n $runtime"
    runtime="sudo -n $runtime"
  else
    tell runtime_error "$why; with sudo -n: $also"
    runtime=
  fi
fi
if [ -n "$runtime" ]; then
  # A separate list, since an inspection that fails says only in words whether the image is absent.
  if images=$($runtime images --no-trunc -q 2>&1); then
    id=$($runtime image inspect --format '{{.Id}}' "$image" 2>/dev/null) || id=
    tell image "${id:-absent}"
  else
    tell image_error "$images"
  fi
fi

if why=$(mkdir -p "$run_dir" 2>&1 && : 2>&1 >"$run_dir/.atomrun"); then
  tell disk_kb "$(df -Pk "$run_dir" | awk 'NR == 2 { print $4 }')"
else
  tell run_dir_error "$why"
fi

for path in "$@"; do
  [ -e "$path" ] || tell missing "$path"
done

for port in $ports; do
  hex=$(printf :%04X "$port")
  inode=$(awk -v p="$hex" '$4 == "0A" && substr($2, length($2) - 4) == p { print $10; exit }' /proc/net/tcp /proc/net/tcp6)
  [ -n "$inode" ] || continue
  who='by a process of another user'
  for process in /proc/[0-9]*; do
    if ls -l "$process/fd" 2>/dev/null | grep -qF "socket:[$inode]"; then
      who="by pid ${process#/proc/}: $(tr '\0' ' ' <"$process/cmdline" | cut -c 1-200)"
      break
    fi
  done
  tell port "$port is in use $who"
done

# What the GPUs and their driver are: of the host, wherever the programs run.
arch=$(awk '$1 == "gfx_target_version" && $2 > 0 {
  printf "gfx%d%d%x\n", $2 / 10000, $2 % 10000 / 100, $2 % 100 }' /sys/class/kfd/kfd/topology/nodes/*/properties 2>/dev/null |
  sort -u | tr '\n' '+')
[ -z "$arch" ] || tell gpu_arch "${arch%+}"
for what in gpu_driver:/sys/module/amdgpu/version rocm:/opt/rocm/.info/version; do
  [ -r "${what#*:}" ] && tell "${what%%:*}" "$(head -n 1 "${what#*:}")"
done

# Without lingering, such a node ends everything of a user whose last login is gone: our supervisor too.
if [ "$(id -u)" != 0 ] && [ ! -e "/var/lib/systemd/linger/$(id -un)" ] &&
  cat /etc/systemd/logind.conf /etc/systemd/logind.conf.d/*.conf 2>/dev/null |
  grep -qiE '^[[:space:]]*KillUserProcesses[[:space:]]*=[[:space:]]*(yes|true|1|on)'; then
  tell kill_user_processes "$(id -un)"
fi

set -- /sys/class/drm/card*/device/mem_info_vram_used
[ -r "$1" ] && tell vram "$(cat "$@" | awk '{ sum += $1 } END { printf "%.0f", sum }')"
[ -r "$1" ] && tell vram_fullest "$(cat "$@" | sort -n | tail -n 1)"
exit 0

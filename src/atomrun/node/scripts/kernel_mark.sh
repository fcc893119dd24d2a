# Writes a line into the kernel log.      TEXT
set -u
if [ -w /dev/kmsg ]; then
  echo "$1" >/dev/kmsg
else
  printf '%s\n' "$1" | sudo -n tee /dev/kmsg >/dev/null
fi

# Removes the container of this exact name if its label says that it belongs to the run.
#   RUN NAME RUNTIME...      exit 3: unknown, nothing done; 4: it belongs to another
set -u
run=$1 name=$2
shift 2
listed=$("$@" ps --all --no-trunc --format '{{.ID}} {{.Names}}') || exit 3
id=$(printf '%s\n' "$listed" | awk -v name="$name" '{ n = split($2, names, ","); for (i = 1; i <= n; i++) if (names[i] == name) { print $1; exit } }')
[ -n "$id" ] || exit 0
label=$("$@" inspect --type container --format '{{index .Config.Labels "atomrun.run"}}' "$id") || exit 3
[ "$label" = "$run" ] || exit 4
"$@" kill "$id" >/dev/null 2>&1 # podman would ask nicely, and wait
"$@" rm --force "$id" >/dev/null

# Whether a container of this exact name exists: prints `absent`, or `ID|RUNNING|OWNER|RUN|IMAGE`.
#   NAME RUNTIME...      exit 3: unknown, the runtime does not answer
set -u
name=$1
shift
listed=$("$@" ps --all --no-trunc --format '{{.ID}} {{.Names}}') || exit 3
id=$(printf '%s\n' "$listed" | awk -v name="$name" '{ n = split($2, names, ","); for (i = 1; i <= n; i++) if (names[i] == name) { print $1; exit } }')
if [ -z "$id" ]; then
  echo absent
  exit 0
fi
labels='{{index .Config.Labels "atomrun.owner"}}|{{index .Config.Labels "atomrun.run"}}'
"$@" inspect --type container --format "{{.Id}}|{{.State.Running}}|$labels|{{.Image}}" "$id" || exit 3

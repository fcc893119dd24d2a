# Runs one program: secrets from standard input, its process on record, a group of its own.
#   sh -c THIS atomrun RECORD FRESH PROGRAM [ARGUMENT...]
# RECORD: file that gets "<pid> <start time>". FRESH: directory that must not exist yet, "" for none.
set -eu
record=$1 fresh=$2
shift 2
while IFS= read -r line; do
  value=$(printf %s "${line#*=}" | base64 -d)
  export "${line%%=*}=$value"
done
if [ -n "$fresh" ]; then
  mkdir -p "${fresh%/*}"
  mkdir "$fresh"
fi
group() { echo "$3"; }
start() { shift 19; echo "$1"; }
read -r stat </proc/$$/stat
stat=${stat##*) }
(
  umask 077
  mkdir -p "${record%/*}"
  echo "$$ $(start $stat)" >"$record.new"
  mv "$record.new" "$record"
)
echo "atomrun: began $(date +%Y%m%d-%H%M%S)"
if [ "$(group $stat)" = "$$" ]; then
  exec "$@" </dev/null
fi
exec setsid "$@" </dev/null

# Prints the newest file below a directory by the date in its name.
#   DIRECTORY PATTERN      exit 3: there is none
set -u
found=$(find "$1" -type f -name "$2" 2>/dev/null | awk -F / '{ print $NF "\t" $0 }' | sort | tail -n 1 | cut -f 2-)
[ -n "$found" ] || exit 3
cat "$found"

#!/bin/sh
# usage: unshare --mount sh as_nobody.sh PATH... -- COMMAND...
# Runs a command as nobody, who may look at these paths even if they are below a folder that is closed to others
# (/root, say): in this mount namespace alone, such a folder is replaced by an empty one with the path in it. So is
# /tmp where EMPTY_TMP is set.
set -eu
held=/mnt # only here
mount -t tmpfs none "$held"
number=0
closed=
while [ "$1" != -- ]; do
  path=$1 number=$((number + 1)) part=$1
  shift
  mkdir "$held/$number"
  mount --bind "$path" "$held/$number"
  echo "$path" >>"$held/paths"
  while [ "$part" != / ]; do
    part=$(dirname "$part")
    [ $(($(stat -c 0%a "$part") & 1)) = 1 ] || closed="$part $closed"
  done
done
shift
[ -z "${EMPTY_TMP-}" ] || mount -t tmpfs -o mode=1777 none /tmp
for folder in $closed; do
  mount -t tmpfs -o mode=755 none "$folder"
done
number=0
while read -r path; do
  number=$((number + 1))
  [ -d "$path" ] || { mkdir -p "$path" && mount --bind "$held/$number" "$path"; }
done <"$held/paths"
unset EMPTY_TMP
exec setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --no-new-privs -- "$@"

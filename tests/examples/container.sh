#!/bin/sh
# usage: unshare --mount --net sh container.sh PROJECT COMMAND...
# Like `docker run --network none --read-only --tmpfs /tmp`: the project at /srv, nothing to write but /tmp, and no way out.
set -eu
mount --bind "$1" /srv
mount -o remount,bind,ro /srv
ip link set lo up
mount -o remount,bind,ro /
shift
EMPTY_TMP=yes exec "$@"

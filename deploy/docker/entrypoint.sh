#!/bin/sh
# Entry point of the image. Started as root with PUID (and PGID), it gives the data directory to that user, unless
# it has that owner already, and continues as that user.
set -eu
if [ "$(id -u)" = 0 ] && [ -n "${PUID:-}" ]; then
  owner=$PUID:${PGID:-$PUID}
  # chown --recursive changes the folder itself last, so that an interrupted run is repeated.
  [ "$(stat --format=%u:%g "$STACKROOM_DATA")" = "$owner" ] || chown --recursive "$owner" "$STACKROOM_DATA"
  exec setpriv --reuid="$PUID" --regid="${owner#*:}" --clear-groups -- stackroom "$@"
fi
exec stackroom "$@"

#!/bin/sh
# Backs up a directory, and asks before it deletes old backups.
#
#     backup.sh SOURCE DESTINATION
#
# For cron(8) or a systemd timer. Run it again at any time, even after it or the machine crashed: a
# backup exists completely or not at all, a question is asked once, and nothing is deleted without a
# "yes" to exactly that list. It never waits long: if nobody has answered yet, the next run checks
# again. Two runs at once are not safe; use flock(1) to prevent them.
#
# $KEEP is how many backups stay (7); $PATIENCE how long a run waits for an answer (1m).
set -eu
export LC_ALL=C
source=$1
destination=$2
today=$(date +%Y-%m-%d)
plan=$destination/delete.plan # The subject of the question, from asking until it is done.

# 1. Back up, under a temporary name until the backup is complete and on disk.
if ! [ -e "$destination/$today.tar" ]; then
    tar -cf "$destination/new.partial" -C "$source" .
    sync "$destination/new.partial"
    mv "$destination/new.partial" "$destination/$today.tar"
fi

# 2. Plan what to delete, unless a plan of an earlier run is still pending. Its first line makes it
# different from that of another day, so that a "no" is valid for one day.
if ! [ -e "$plan" ]; then
    old=$(cd "$destination" && printf '%s\n' ????-??-??.tar | sort -r |
        tail -n "+$((${KEEP:-7} + 1))")
    [ -n "$old" ] || exit 0
    printf '%s\n' "$today" "$old" >"$plan.partial"
    sync "$plan.partial"
    mv "$plan.partial" "$plan"
fi

# 3. Ask. The key comes from the plan: asking again joins the question, or gets its answer.
list=$(tail -n +2 "$plan")
code=0
alertq ask "Delete old backups?" --message "$list" --source backup \
    --key "backup-$(cksum <"$plan" | tr ' ' -)" --wait-for "${PATIENCE:-1m}" \
    --destructive delete=Delete --cancel keep=Keep >/dev/null || code=$?

# 4. Carry out the answer. Deleting twice does no harm; the plan is deleted last.
case $code in
0)
    for name in $list; do rm -f "$destination/$name"; done
    rm -f "$plan"
    ;;
10 | 12 | 13 | 17) rm -f "$plan" ;; # "Keep", or the question has ended: ask again another day.
15) ;;                              # Nobody has answered yet: the next run checks again.
*) exit "$code" ;;                  # alertq has printed what is wrong.
esac

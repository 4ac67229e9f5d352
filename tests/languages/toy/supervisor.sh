# Runs programs of steps for coevo: who reads the channel decides what they were worth.
# Nothing that a step starts is given the channel, or the word under which its lines count.
IFS= read -r nonce
exec 3>&1 1>&2
tar -x -p --no-same-owner -f /in/tree -C /w || exit 1
cd "/w/$1" || exit 1
say() {
  printf '%s\t{"e": "%s", "t": %s%s}\n' "$nonce" "$1" "$index" "$2" >&3
}
while IFS=' ' read -r verb rest; do
  case $verb in
    begin)
      index=$rest outcome=
      say begin ''
      continue
      ;;
    end)
      outcome=${outcome:-pass}
      say test ", \"outcome\": \"${outcome%% *}\", \"message\": \"${outcome#* }\""
      say end ', "tests": 1'
      continue
      ;;
  esac
  [ -z "$outcome" ] || continue
  case $verb in
    pass) ;;
    is) [ "${rest%% *}" = "${rest#* }" ] || outcome="fail is_not $rest" ;;
    fail) outcome="fail failed $rest" ;;
    throw) outcome="error thrown $rest" ;;
    skip) outcome=skipped ;;
    wait) sleep "$rest" </dev/null 3>&- ;;
    hang) sleep 1000000 </dev/null 3>&- ;;
    exit) exit "$rest" ;;
    kill) kill "-$rest" $$ ;;
    dial)
      # a documentation address (RFC 5737), which nobody has
      /bin/bash -c '</dev/tcp/203.0.113.7/80' </dev/null 3>&- || outcome='error withheld network'
      ;;
    sh)
      /bin/sh -c "$rest" </dev/null 3>&-
      status=$?
      [ "$status" = 0 ] || outcome="fail status $status"
      ;;
    *) exit 99 ;;
  esac
done

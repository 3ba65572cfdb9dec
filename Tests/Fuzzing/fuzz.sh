#!/usr/bin/env bash
# Fuzzes one target, or each of them, with libFuzzer and AddressSanitizer: fuzz.sh [target|all] [seconds, default 600]
# Ends with 0 when every target ran for its time and found nothing. New inputs that reach new code go to
# .build/corpus/<target>; those worth keeping are copied to corpus/<target> by `fuzz.sh keep <target>`, which merges and makes
# them few. A crash is written to .build/crashes/<target>, what libFuzzer said to .build/logs/<target>.
set -euo pipefail
cd "$(dirname "$0")"
program=.build/debug/fuzz
# Leaks are not looked for: Foundation keeps what it caches.
export ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no
runtime=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
build() {
    swift build ${SWIFT_FLAGS:-} --sanitize address -Xswiftc -enable-testing \
        -Xswiftc -sanitize-coverage=edge,indirect-calls,trace-cmp,inline-8bit-counters,pc-table \
        -Xlinker "$runtime/clang/lib/linux/libclang_rt.fuzzer_no_main-$(uname -m).a" -Xlinker -lstdc++
}
fuzz() {
    local log=".build/logs/$1" status=0
    if ! "$program" --list | grep -x -- "$1" >/dev/null; then
        echo "$1 FAILED: there is no such target, or $PWD/$program does not start"
        return 1
    fi
    mkdir -p ".build/corpus/$1" ".build/crashes/$1" .build/logs "corpus/$1"
    echo "== $1, $2 s"
    # No private key is kept in the corpus.
    if [ "$1" = keys ] && [ ! -e .build/corpus/keys/private ]; then
        openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out .build/corpus/keys/private
    fi
    # Each run prints its seed.
    FUZZ_TARGET=$1 "$program" -max_total_time="$2" -timeout=25 -max_len=20000 \
        -rss_limit_mb=3000 -artifact_prefix=".build/crashes/$1/" -print_final_stats=1 -verbosity=1 \
        ".build/corpus/$1" "corpus/$1" >"$log" 2>&1 || status=$?
    grep -E "Seed|^==|ERROR|SUMMARY|DONE|stat::(number|new)|Fatal|recondition|crash" "$log" || true
    # libFuzzer says so when the time is up.
    if [ "$status" = 0 ] && ! grep -qE "^Done [0-9]+ runs" "$log"; then status="0, but it did not run to its end"; fi
    if [ "$status" != 0 ]; then
        echo "$1 FAILED (exit status $status); the end of $PWD/$log, inputs that crash in $PWD/.build/crashes/$1:"
        tail -n 20 "$log"
        return 1
    fi
}
case "${1:-all}" in
keep)
    mkdir -p ".build/corpus/$2" "corpus/$2"
    FUZZ_TARGET=$2 "$program" -merge=1 "corpus/$2" ".build/corpus/$2" 2>&1 | tail -2 ;;
all)
    build
    targets=${FUZZ_TARGETS:-$("$program" --list)}
    : "${targets:?no fuzz target is known}"
    # One on each core; what each prints stays together. xargs ends with 123 when one failed.
    export -f fuzz
    export program
    printf '%s\n' $targets | xargs -P "$(nproc)" -I{} bash -euo pipefail -c '
        status=0
        said=$(fuzz "$1" "$2" 2>&1) || status=1
        printf "%s\n" "$said"
        exit $status' fuzz {} "${2:-600}" ;;
*)
    build
    fuzz "$1" "${2:-600}" ;;
esac

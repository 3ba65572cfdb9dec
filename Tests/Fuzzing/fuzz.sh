#!/usr/bin/env bash
# Fuzzes one target, or each of them, with libFuzzer and AddressSanitizer: fuzz.sh [target|all] [seconds, default 600]
# New inputs that reach new code go to .build/corpus/<target>; those worth keeping are copied to corpus/<target> by
# `fuzz.sh keep <target>`, which merges and makes them few. A crash is written to .build/crashes/<target>.
set -euo pipefail
cd "$(dirname "$0")"
targets="${FUZZ_TARGETS:-checks json token faults scenario connection client admin}"
runtime=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
build() {
    swift build --sanitize address -Xswiftc -enable-testing \
        -Xswiftc -sanitize-coverage=edge,indirect-calls,trace-cmp,inline-8bit-counters,pc-table \
        -Xlinker "$runtime/clang/lib/linux/libclang_rt.fuzzer_no_main-$(uname -m).a" -Xlinker -lstdc++
}
fuzz() {
    mkdir -p ".build/corpus/$1" ".build/crashes/$1" "corpus/$1"
    echo "== $1, $2 s"
    # Leaks are not looked for: Foundation keeps what it caches. Each run prints its seed.
    ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no FUZZ_TARGET=$1 .build/debug/fuzz -max_total_time="$2" -timeout=25 -max_len=20000 \
        -rss_limit_mb=3000 -artifact_prefix=".build/crashes/$1/" -print_final_stats=1 -verbosity=1 \
        ".build/corpus/$1" "corpus/$1" 2>&1 | grep -E "Seed|^==|ERROR|SUMMARY|DONE|stat::(number|new)|Fatal|recondition|crash" || true
    if ls ".build/crashes/$1/"* >/dev/null 2>&1; then
        echo "crashes in .build/crashes/$1"
        return 1
    fi
}
case "${1:-all}" in
keep)
    mkdir -p ".build/corpus/$2" "corpus/$2"
    ASAN_OPTIONS=detect_leaks=0 FUZZ_TARGET=$2 .build/debug/fuzz -merge=1 "corpus/$2" ".build/corpus/$2" 2>&1 | tail -2 ;;
all)
    build
    status=0
    for target in $targets; do fuzz "$target" "${2:-600}" || status=1; done
    exit $status ;;
*)
    build
    fuzz "$1" "${2:-600}" ;;
esac

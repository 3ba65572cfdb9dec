import Glibc

Trap.arm()
let arguments = CommandLine.arguments.dropFirst().map { $0 }
switch arguments.count {
case 1: if let seed = UInt64(arguments[0]) { exit(Replay.run(seed, isTold: true)) }
case 2:
    if arguments[0] == "digest", let seed = UInt64(arguments[1]) { exit(Replay.run(seed, isTold: false)) }
    if let first = UInt64(arguments[0]), let count = UInt64(arguments[1]), count > 0 {
        exit(Sweep(first: first, count: count).run())
    }
default: break
}
say("simulate SEED: replay a run with a log; simulate FIRST COUNT: many runs; simulate digest SEED: replay without log")
exit(64)

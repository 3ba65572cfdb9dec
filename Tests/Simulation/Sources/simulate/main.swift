import Glibc

Trap.arm()
let arguments = CommandLine.arguments.dropFirst().map { $0 }
let numbers = arguments.compactMap { UInt64($0) }
switch (arguments.first, arguments.count, numbers.count) {
case (_, 1, 1): exit(Replay.run(numbers[0], isTold: true))
case ("digest", 2, 1): exit(Replay.run(numbers[0], isTold: false))
case (_, 2, 2) where numbers[1] > 0: exit(Sweep(first: numbers[0], count: numbers[1]).run())
case ("part", 4, 3): Sweep.part(first: numbers[0], step: numbers[1], end: numbers[2])
default:
    say(
        "simulate SEED: replay a run with a log; simulate FIRST COUNT: many runs; simulate digest SEED: replay without log"
    )
    exit(64)
}

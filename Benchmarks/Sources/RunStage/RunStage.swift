import Stages

/// `run-stage NAME COUNT` runs one stage so many times; `run-stage` alone lists those whose instructions are compared.
@main
struct RunStage {
    static func main() throws {
        let stages = try Stage.all()
        let arguments = CommandLine.arguments
        if arguments.count == 1 {
            for stage in stages where !stage.isOpenSSL { print(stage.name) }
            return
        }
        guard arguments.count == 3, let stage = stages.first(where: { $0.name == arguments[1] }),
            let count = UInt64(arguments[2])
        else {
            throw UsageError()
        }
        print(stage.run(count))
    }
}

struct UsageError: Error, CustomStringConvertible {
    let description = "expected the name of a stage and how often to run it, as in: run-stage encode-alert 10000"
}

import ArgumentParser
import Audience
import Flags
import Harness
import Settings

struct AudienceExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Print how an expression is evaluated: each step, what is left, and how long it took.",
        discussion:
            "Steps are in the order in which they were done; those of an inner expression stand before it, indented.")

    @OptionGroup var question: AudienceQuestion

    @Flag(help: "Print JSON.")
    var json = false

    private struct Step: Encodable {
        let operation: String
        let what: String
        let rows: UInt64?
        let before: UInt64?
        let after: UInt64
        let depth: Int
        let milliseconds: Double
        let text: String

        init(_ step: TagExpressionStep) {
            operation = step.operation.rawValue
            what = step.what
            rows = step.rows
            before = step.before
            after = step.after
            depth = step.depth
            milliseconds = Double(step.nanoseconds) / 1e6
            text = String(repeating: "  ", count: step.depth) + step.done
        }
    }

    private struct Answer: Encodable {
        let expression: String
        let registrations: UInt64
        let devices: UInt64
        let all: UInt64
        let milliseconds: Double
        let steps: [Step]
    }

    func run() throws {
        let asked = try question.asked()
        let registrations = asked.registrations
        let (rows, steps) = asked.expression.explained(registrations, keeping: asked.filters)
        let answer = Answer(
            expression: asked.expression.description, registrations: rows.count,
            devices: registrations.devices(in: rows), all: registrations.count,
            milliseconds: Double(steps.reduce(0) { $0 + $1.nanoseconds }) / 1e6, steps: steps.map(Step.init))
        guard !json else { return try JSONOutput.print(answer) }
        Console.output(text(answer))
    }

    private func text(_ answer: Answer) -> String {
        func padded(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        func milliseconds(_ value: Double) -> String { Units.fixed(value, places: 3) }
        let width = max(6, Units.grouped(answer.all).count)
        var lines = ["\(padded("before", width))  \(padded("after", width))  \(padded("ms", 8))  step"]
        for step in answer.steps {
            lines.append(
                [
                    padded(step.before.map(Units.grouped) ?? "-", width), padded(Units.grouped(step.after), width),
                    padded(milliseconds(step.milliseconds), 8), step.text,
                ].joined(separator: "  "))
        }
        lines.append(
            "\(Units.counted(answer.registrations, "registration")) of \(Units.counted(answer.devices, "device")), "
                + "out of \(Units.grouped(answer.all)), in \(milliseconds(answer.milliseconds)) ms")
        return lines.joined(separator: "\n") + "\n"
    }
}

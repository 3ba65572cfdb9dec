import Results

/// What a reader of a gate's outcome must know of how it came about.
enum GateWarnings {
    static func of(_ baseline: BaselineDocument, _ result: ResultDocument?) -> [String] {
        guard let environment = result?.environment else { return [] }
        var warnings: [String] = []
        let machine = baseline.machine
        let differing = [
            ("processor", machine.cpu, environment.cpu), ("cores", "\(machine.cores)", "\(environment.cores)"),
            ("kernel", machine.kernel, environment.kernel), ("system", machine.system, environment.system),
        ].filter { $0.1 != $0.2 }.map { "\($0.0) \($0.1) there, \($0.2) here" }
        if !differing.isEmpty {
            warnings.append(
                "the baseline is of another machine (\(differing.joined(separator: "; "))): the reference kernel evens out its "
                    + "speed, to a few per cent")
        }
        return warnings
    }
}

import Foundation
import Results

/// How needs move with each input: the elasticity, ln of the ratio of needs at +10 % and −10 % over ln (1.1 / 0.9). Where a worker's pushes
/// begin or cease to be gathered between the two, which is a step, it is that of the side on which they are as in the plan.
enum PlanSensitivities {
    static let step = 0.1

    /// Of fewer pushes a tenth is not a number of them.
    private static let fewestPushes: UInt64 = 100

    /// Only inputs that move something.
    static func of(_ model: PlanModel) -> [PlanDocument.Sensitivity] {
        inputs.compactMap { name, change in
            if name == "devices", (model.question.pushes ?? 0) < fewestPushes { return nil }
            // Nothing has more than all of its time.
            let top = name == "utilisation" ? min(1 + step, 1 / model.question.utilisation) : 1 + step
            let points = [1 - step, 1, top].compactMap { factor in needs(model, factor, change).map { (factor, $0) } }
            guard points.count == 3 else { return nil }
            func isDense(_ needs: PlanModel.Needs) -> Bool {
                needs.perSecond * model.question.attempts / max(1, needs.cores) >= PaceCost.denseFrom
            }
            let alike = points.filter { isDense($0.1) == isDense(points[1].1) }
            guard let less = alike.first, let more = alike.last, more.0 > less.0 else { return nil }
            func elasticity(_ part: (PlanModel.Needs) -> Double) -> Double {
                let (high, low) = (part(more.1), part(less.1))
                guard high > 0, low > 0 else { return 0 }
                // A window moves things in steps of a push; what is below a thousandth is noise.
                return (log(high / low) / log(more.0 / less.0) * 1000).rounded() / 1000
            }
            let sensitivity = PlanDocument.Sensitivity(
                input: name, connections: elasticity(\.connections), cores: elasticity(\.cores),
                memory: elasticity(\.memory), bandwidth: elasticity(\.bandwidth))
            let all = [sensitivity.connections, sensitivity.cores, sensitivity.memory, sensitivity.bandwidth]
            return all.contains { abs($0) >= 0.005 } ? sensitivity : nil
        }
    }

    private static func needs(
        _ model: PlanModel, _ factor: Double, _ change: Change
    ) -> PlanModel.Needs? {
        var question = model.question
        var costFactor = 1.0
        // What is given stays out of it: the question is what is needed.
        question.connections = nil
        question.machines = nil
        change(&question, &costFactor, factor)
        var changed = PlanModel(question, model.costs)
        changed.answers = model.answers
        changed.costFactor = costFactor
        changed.isContinuous = true
        changed.machinesThere = model.question.machines.map(Double.init)
        return changed.required.map { changed.needs($0) }
    }

    private typealias Change = @Sendable (inout PlanQuestion, inout Double, Double) -> Void
    private static let inputs: [(String, Change)] = [
        ("devices", { question, _, factor in question.pushes = question.pushes.map { UInt64(Double($0) * factor) } }),
        ("time", { question, _, factor in question.within = question.within.map { $0 * factor } }),
        ("round-trip time", { question, _, factor in question.roundTrip *= factor }),
        (
            "server's answer time",
            { question, _, factor in question.serverTime = question.serverTime.scaled(by: factor) }
        ),
        (
            "streams a connection",
            { question, _, factor in question.streams = max(1, Int(Double(question.streams) * factor)) }
        ),
        ("client CPU a push", { _, costFactor, factor in costFactor = factor }),
        (
            "bytes a push",
            { question, _, factor in
                question.payloadBytes *= factor
                question.largestPayload *= factor
                question.requestBytes *= factor
            }
        ),
        ("window", { question, _, factor in question.window = question.window.map { $0 * factor } }),
        (
            "bandwidth of a connection",
            { question, _, factor in question.linkRate = question.linkRate.map { $0 * factor } }
        ),
        ("loss", { question, _, factor in question.loss *= factor }),
        (
            "pushes until GOAWAY",
            { question, _, factor in question.goAwayEvery = question.goAwayEvery.map { $0 * factor } }
        ),
        (
            "streams while fewer",
            { question, _, factor in question.fewerStreams?.streams *= factor }
        ),
        ("share sent again", { question, _, factor in question.sentAgain = min(0.99, question.sentAgain * factor) }),
        ("utilisation", { question, _, factor in question.utilisation *= factor }),
    ]
}

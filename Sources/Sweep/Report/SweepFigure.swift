import Reports
import Results
import Settings

/// The figures of a sweep's points that tables and pictures show.
struct SweepFigure: Sendable {
    let name: String
    /// In which axis of a chart it is drawn.
    let axis: ChartAxis
    let value: @Sendable (SweepDocument.Point) -> SweepDocument.Figure?

    static let rate = SweepFigure(name: Written.title("rate"), axis: .rate) { $0.rate }
    static let p50 = SweepFigure(name: "total p50", axis: .nanoseconds) { $0.p50 }
    static let p99 = SweepFigure(name: "total p99", axis: .nanoseconds) { $0.p99 }
    static let clientCPU = SweepFigure(name: "client CPU a push", axis: .nanoseconds) { $0.clientCPU }
    static let mockCPU = SweepFigure(name: "mock CPU a push", axis: .nanoseconds) { $0.mockCPU }
    static let all = [rate, p50, p99, clientCPU, mockCPU]
    /// Those with a picture.
    static let drawn = [rate, p99, clientCPU]

    /// With its unit, as titles have it.
    var title: String { axis == .rate ? "\(name), pushes/s" : name }

    /// Three digits and a unit, without a space: `1.13M`, `412k`, `1.07ms`.
    func short(_ value: Double) -> String {
        if axis == .nanoseconds { return Units.duration(nanoseconds: value).filter { $0 != " " } }
        func three(_ value: Double) -> String {
            Units.fixed(value, places: value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)
        }
        switch value {
        case 999_500...: return three(value / 1e6) + "M"
        case 999.5...: return three(value / 1e3) + "k"
        default: return three(value)
        }
    }

    /// As tables write it.
    func written(_ value: Double) -> String {
        axis == .nanoseconds
            ? Units.duration(nanoseconds: value) : Units.perSecond(value)
    }
}

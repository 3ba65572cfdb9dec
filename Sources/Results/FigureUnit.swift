/// In what a figure is counted.
package enum FigureUnit: String, Codable, Sendable {
    case perSecond = "per_second"
    case nanoseconds, bytes, count
}

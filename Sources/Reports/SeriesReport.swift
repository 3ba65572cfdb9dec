import Results
import Settings

/// A run second by second, for spreadsheets.
package enum SeriesReport {
    package static func csv(_ result: ResultDocument) -> String {
        var text = "seconds,sent,accepted,rejected,failed,not_sent,in_flight,p50_ns,p99_ns\n"
        for point in result.series {
            text +=
                "\(Units.fixed(point.time, places: 3)),\(point.sent),\(point.accepted),\(point.rejected),\(point.failed),"
            text += "\(point.notSent),\(point.inFlight),\(point.p50),\(point.p99)\n"
        }
        return text
    }
}

import AlertCore
import SQL
import TextFormats

// What only a database can get wrong about an alert: numbers out of range, and texts that another
// program would read in another way.
extension AlertRow {
    /// The faults of the row of ``columns`` from which this was read.
    package func formFaults(_ row: borrowing some SQLRow & ~Copyable) -> [String] {
        var faults = contradictions
        let expect = { (isRight: Bool, fault: String) in if !isRight { faults.append(fault) } }
        let absent = [Column.snoozedMs, .snoozedBootMs, .snoozedBoot].count { row.isNull($0) }
        expect(absent == 0 || absent == 3, "has a part of the end of a snooze")
        expect(
            row.isNull(Column.resolvedBoot) == row.isNull(Column.resolvedBootMs),
            "has a part of the time of an answer")
        let (asked, left) = (alert.record.alert, alert.remains?.buttons)
        for (index, property) in AlertProperty.all.enumerated() {
            expect(
                property.isCanonical(row, at: Int32(index), of: asked, left),
                "has \(property.column) that are not written as this program writes them")
        }
        guard let response = alert.record.response else { return faults }
        let values = response.input.text(for: asked.fields)
        expect(
            values.map { row.holds($0, Column.fieldValues) } ?? row.isNull(Column.fieldValues),
            "has values that are not written as this program writes them")
        if response.responder == nil {
            // Nobody chose, but the view `history` would show a name.
            let responder = [
                Column.responderName, .via, .tty, .ssh, .responderMeans, .responderHost,
                .responderPid,
            ]
            expect(
                responder.allSatisfy { row.isNull($0) },
                "has a response by nobody that names a responder")
        }
        return faults
    }
}

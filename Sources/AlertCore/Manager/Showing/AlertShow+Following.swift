extension AlertShow {
    /// Called when another alert has become current: its own, as the record says, was resolved or
    /// snoozed, or has to wait.
    func leave(with record: AlertRecord) {
        if record.response != nil {
            hear(record)
        } else if record.snoozedUntil != nil {
            hearSnoozed()
        } else {
            leave(because: "another alert is current")
        }
    }
}

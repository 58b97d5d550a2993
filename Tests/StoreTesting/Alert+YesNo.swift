import AlertCore

extension Alert {
    /// A question with the buttons Yes and No.
    package static func yesNo(
        _ title: String = "Go on?", priority: Priority = .normal, deadline: Deadline? = nil,
        key: String? = nil
    ) -> Alert {
        Alert(
            title, buttons: ["Yes", .cancel("No")], priority: priority, deadline: deadline, key: key
        )
    }
}

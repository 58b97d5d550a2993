import AlertCore

// Alerts that differ in one property, whichever there are.
extension Alert {
    /// An alert that has every property.
    package static let withAllProperties: Alert = {
        var alert = Alert(
            "Delete?", message: "40 GB",
            buttons: [.destructive("Delete", id: "rm"), "Later", .cancel("Keep")],
            fields: [Alert.Field("name", title: "Name", initialValue: "nas")], priority: .high,
            deadline: .after(.seconds(60)), defaultButton: "rm", key: "prune",
            userInfo: ["host": "nas"])
        for property in AlertProperty.all { property.fill(in: &alert) }
        return alert
    }()
}

extension AlertProperty {
    /// Gives an alert another value of it.
    package func change(in alert: inout Alert) {
        switch form {
        case .title: alert.title += "!"
        case .style: alert.style = .actionSheet
        case .priority: alert.priority = .low
        case .buttons: alert.buttons[0] = .destructive("Delete", id: "remove")
        case .fields: alert.fields[0].title += "!"
        case .text(let get, let set):
            set(&alert, name == "default" ? "Keep" : "\(get(alert) ?? "")!")
        case .duration(let get, let set): set(&alert, (get(alert) ?? .zero) + .milliseconds(1))
        case .names(let get, let set): set(&alert, (get(alert) ?? []) + ["desktop"])
        case .strings(let get, let set):
            set(&alert, get(alert).merging(["disk": "a"]) { $1 })
        }
    }

    /// Gives an alert a value of it, if it has none.
    fileprivate func fill(in alert: inout Alert) {
        switch form {
        case .text(let get, _): if get(alert) == nil { change(in: &alert) }
        case .duration(let get, _): if get(alert) == nil { change(in: &alert) }
        case .names(let get, _): if get(alert) == nil { change(in: &alert) }
        case .title, .style, .priority, .buttons, .fields, .strings: break
        }
    }
}

extension PresentationLoop {
    /// Checks what others have changed: the lead, the current alert, and the attached screens.
    func screensChanged() async {
        guard isOn, let lead else { return }
        // A screen that is being cleared does not lead, and holds up the others only briefly.
        let leavingTime = await show?.leavingTime
        if let leavingTime, leavingTime >= .seconds(2) { await lead.stepBack() }
        let role = await lead.role(mayLead: leavingTime == nil)
        guard case .showing(let show) = state else {
            if case .leads(let lease) = role, isLeading, lease.others?.all.isEmpty == true,
                await elsewhere.id == nil
            {
                return
            }
            return wakeUps.wake()
        }
        // From here on its timer counts, or that of another screen.
        isLeading = if case .leads = role { true } else { false }
        switch role {
        case .follows(_, let current?) where current != show.id:
            guard let record = try? await context.store.record(show.id) else { return }
            await show.leave(with: record)
        case .detached: show.leave(because: "the screen was detached")
        case .leads(let lease):
            if let others = lease.others { await show.giveUpUnseen(besides: others) }
        // Between two alerts none is current.
        case .follows: break
        }
    }
}

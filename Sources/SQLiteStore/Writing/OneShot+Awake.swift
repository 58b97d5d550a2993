import AlertCore
import CLinux
import Glibc

extension OneShot {
    /// Keeps the thread until the value is there, or a time is over, so that nobody has to wake it;
    /// other threads that are ready to run come first.
    func stayAwake(for time: Duration) {
        let end = ContinuousClock.now + time
        while !isDelivered, ContinuousClock.now < end {
            for _ in 0..<20 { clinux_pause() }
            sched_yield()
        }
    }
}
